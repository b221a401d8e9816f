import Glibc

/// Open descriptors of this process.
package enum Descriptors {
  package static func open() -> Int {
    guard let directory = unsafe opendir("/proc/self/fd") else { return 0 }
    defer { unsafe closedir(directory) }
    var count = 0
    while let entry = unsafe readdir(directory) {
      if unsafe entry.pointee.d_name.0 != UInt8(ascii: ".") { count += 1 }
    }
    return count - 1  // the directory's own
  }
}
