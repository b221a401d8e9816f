internal import Glibc

/// The network interfaces of this machine.
enum NetworkInterface {
  /// True while there is one of this name, up or down (if_nametoindex(3)).
  static func exists(_ name: String) -> Bool { unsafe if_nametoindex(name) != 0 }
}
