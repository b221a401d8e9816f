import Glibc

/// Reads environment variables. A value, so that tests bring their own.
struct Environment: Sendable {
  private let read: @Sendable (String) -> String?

  static let process = Environment { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
  init(_ read: @escaping @Sendable (String) -> String?) { self.read = read }
  init(_ values: [String: String]) { read = { values[$0] } }

  /// The value, or nil when unset or empty.
  subscript(_ name: String) -> String? { read(name).flatMap { $0.isEmpty ? nil : $0 } }

  /// A folder of the XDG Base Directory Specification, by which a relative path counts as none.
  func folder(_ name: String, _ belowHome: String) -> String? {
    func absolute(_ name: String) -> String? { self[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }
    return absolute(name) ?? absolute("HOME").map { "\($0)/\(belowHome)" }
  }
}

extension rlimit {
  init(of resource: __rlimit_resource) {
    self.init()
    unsafe getrlimit(__rlimit_resource_t(resource.rawValue), &self)
  }

  /// Sets the soft limit, as far as the hard one lets it.
  static func set(_ resource: __rlimit_resource, _ value: rlim_t) {
    var limit = rlimit(of: resource)
    limit.rlim_cur = min(value, limit.rlim_max)
    unsafe setrlimit(__rlimit_resource_t(resource.rawValue), &limit)
  }
}

/// `RLIMIT_NOFILE`: the number of descriptors the process may have.
enum FileLimit {
  /// Every transfer may hold a socket and a file; more than this is no help.
  static let wanted: UInt = 65_536

  static var current: (soft: UInt, hard: UInt) {
    let limit = rlimit(of: RLIMIT_NOFILE)
    return (UInt(limit.rlim_cur), UInt(limit.rlim_max))
  }

  /// Raises the soft limit as far as needed and allowed. Nothing here uses select(2), which alone minds.
  static func raise() { if current.soft < wanted { rlimit.set(RLIMIT_NOFILE, rlim_t(wanted)) } }
}

enum ProcessUsage {
  /// User and system time of all threads, in seconds.
  static var seconds: Double { Double(SystemClock.now(CLOCK_PROCESS_CPUTIME_ID)) / 1e9 }

  /// User and system time of a process that was started here; nil once it is gone.
  static func processorTime(of process: pid_t) -> Duration? {
    var (clock, time) = (clockid_t(), timespec())
    guard unsafe clock_getcpuclockid(process, &clock) == 0, unsafe clock_gettime(clock, &time) == 0 else {
      return nil
    }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  static var residentBytesPeak: Int64 {
    var usage = rusage()
    unsafe getrusage(RUSAGE_SELF.rawValue, &usage)
    return Int64(usage.ru_maxrss) * 1_024
  }
}

/// Keeps what is resident small: a job must fit beside others, and most of a tool is its libraries.
enum ResidentMemory {
  /// Gives back the pages of program files that only the start needed; those that are needed again come back
  /// from the system's page cache. Not those that were changed in memory, such as relocated tables.
  static func shrink() {
    for range in cleanRanges(lines(of: "/proc/self/smaps")) {
      _ = unsafe madvise(UnsafeMutableRawPointer(bitPattern: range.lowerBound), range.count, MADV_DONTNEED)
    }
  }

  /// The addresses of the mappings of smaps in proc(5) that are a file's, cannot be written and hold no page of
  /// the process's own, in memory or swapped out. Each begins with a line such as
  /// `7f00-7f10 r-xp 00001000 fe:00 42 /usr/lib/libc.so.6`; lines such as `Anonymous: 0 kB` follow.
  static func cleanRanges(_ lines: [ArraySlice<UInt8>]) -> [Range<UInt>] {
    var ranges: [Range<UInt>] = []
    var current: Range<UInt>?
    var (hasOwn, hasSwapped) = (true, true)
    for line in lines {
      let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
      guard let first = fields.first else { continue }
      if first.last != UInt8(ascii: ":") {
        (current, hasOwn, hasSwapped) = (fileRange(fields), true, true)
      } else if let range = current, fields.count > 1, says(fields[1], "0") {
        if says(first, "Anonymous:") { hasOwn = false }
        if says(first, "Swap:") { hasSwapped = false }
        guard !hasOwn, !hasSwapped else { continue }
        ranges.append(range)
        current = nil
      }
    }
    return ranges
  }

  private static func fileRange(_ fields: [ArraySlice<UInt8>]) -> Range<UInt>? {
    guard fields.count == 6, says(fields[1], "r-xp") || says(fields[1], "r--p"),
      fields[5].first(where: { $0 != UInt8(ascii: " ") }) == UInt8(ascii: "/")
    else { return nil }
    let ends = fields[0].split(separator: UInt8(ascii: "-")).map {
      UInt(String(decoding: $0, as: UTF8.self), radix: 16)
    }
    guard ends.count == 2, let start = ends[0], let end = ends[1], start < end else { return nil }
    return start..<end
  }

  private static func says(_ field: ArraySlice<UInt8>, _ word: String) -> Bool {
    field.elementsEqual(word.utf8)
  }

  /// The lines that `cleanRanges` looks at: of the two dozen of each mapping they are three.
  private static func lines(of path: String) -> [ArraySlice<UInt8>] {
    let bytes = (try? Descriptor(opening: path, O_RDONLY).readAll(atMost: 16 << 20)) ?? []
    return bytes.split(separator: 0x0A).filter { line in
      guard let first = line.first else { return false }
      let isHead = first < UInt8(ascii: "A") || first > UInt8(ascii: "Z")
      return isHead || line.starts(with: "Anonymous:".utf8) || line.starts(with: "Swap:".utf8)
    }
  }
}
