internal import CNetSpoolShims
internal import Glibc

/// The number of descriptors that the process may still open.
enum DescriptorRoom {
  /// Returns how many are free below `RLIMIT_NOFILE`; `Int.max` without a limit, or where the system does not say.
  static func free() -> Int {
    let limit = limit
    guard limit < .max else { return .max }
    if let told { return max(0, limit - told) }
    let open = SystemText.openDescriptors()
    // Looking needs one itself, so none seen means that none is free, or that there is no /proc.
    guard !open.isEmpty else { return hasList ? 0 : .max }
    return max(0, limit - open.count + 1)
  }

  /// The number of open ones, as Linux 6.2 and later tell it without a list, which costs much where they are
  /// many; nil: they do not.
  private static var told: Int? {
    guard let count = (try? FileStatus(path: "/proc/self/fd"))?.bytes, count > 0 else { return nil }
    return Int(count)
  }

  /// Why `count` more cannot be opened now: EMFILE or ENFILE; nil when they can.
  static func refusal(of count: Int) -> Int32? {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    for _ in 0..<count {
      let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | O_CLOEXEC, 0)
      guard descriptor >= 0 else { return errno == EMFILE || errno == ENFILE ? errno : nil }
      opened.append(descriptor)
    }
    return nil
  }

  /// The limit itself.
  static var limit: Int {
    var limit = rlimit()
    let isKnown = unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0
    return isKnown && limit.rlim_cur < 1 << 30 ? Int(limit.rlim_cur) : .max
  }

  private static let hasList = (try? FileStatus(path: "/proc/self/fd")) != nil
}
