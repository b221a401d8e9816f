import Glibc

/// `RLIMIT_NOFILE`: the number of descriptors the process may have.
enum FileLimit {
  /// Every transfer may hold a socket and a file; more than this helps nobody.
  static let wanted: UInt = 65_536

  static var current: (soft: UInt, hard: UInt) {
    var limit = rlimit()
    unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return (UInt(limit.rlim_cur), UInt(limit.rlim_max))
  }

  /// Raises the soft limit as far as needed and allowed. Nothing here uses select(2), which alone minds.
  static func raise() {
    let (soft, hard) = current
    guard soft < wanted, soft < hard else { return }
    var limit = rlimit(rlim_cur: rlim_t(min(wanted, hard)), rlim_max: rlim_t(hard))
    unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
