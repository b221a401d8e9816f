import Glibc

extension Options {
  /// The same options, aimed at a port of this process that never answers, with no two URLs equal.
  package func aimedAtSilence() -> Options {
    var silent = self
    silent.urlPrefix = SilentListener().urlPrefix
    silent.unique = true
    return silent
  }
}

/// What steps cost the thread that takes them, in nanoseconds per item: time passed and processor time.
package struct CallerCost {
  private var fields: [(String, Double)] = []

  package init() {}

  package mutating func measure<T>(_ name: String, count: Int, _ step: () -> T) -> T {
    let wall = Clock.monotonic()
    let thread = Clock.thread()
    let result = step()
    fields.append(("\(name)_ns", Double(Clock.monotonic() - wall) / Double(count)))
    fields.append(("\(name)_cpu_ns", Double(Clock.thread() - thread) / Double(count)))
    return result
  }

  package func add(to report: inout Report) {
    for (key, value) in fields { report.add(key, value) }
  }
}

/// Resident bytes for each of `requests` further requests, once twice the wire's width is under way.
package func measureGrowth(_ options: Options, _ send: (Int) -> Void) -> Double {
  let first = options.concurrency * 2
  for index in 0..<first { send(index) }
  let before = Memory.settled()
  for index in first..<(first + options.requests) { send(index) }
  return Double(Memory.settled() - before) / Double(options.requests)
}

extension Report {
  /// What several threads have handed over together: `enqueue_ns` is the time that passed for each of all.
  package mutating func add(handedOver count: Int, nanoseconds: UInt64, usage: Usage) {
    add("requests", count)
    add("requests_per_second", Double(count) * 1e9 / Double(max(nanoseconds, 1)))
    add("enqueue_ns", Double(nanoseconds) / Double(max(count, 1)))
    add("cpu_us_per_request", (usage.userMicroseconds + usage.systemMicroseconds) / Double(max(count, 1)))
    add("rss_max_bytes", Memory.peak())
  }

  /// Memory per waiting request.
  package mutating func add(_ bytesPerQueued: Double, requests: Int) {
    add("requests", requests)
    add("bytes_per_queued", bytesPerQueued)
    add("rss_max_bytes", Memory.peak())
  }

  /// Time and memory of one large body.
  package mutating func add(download usage: Usage, bytes: Int) {
    add(usage, requests: 1)
    add("bytes", bytes)
    add("cpu_seconds", (usage.userMicroseconds + usage.systemMicroseconds) / 1e6)
    add("rss_max_bytes", Memory.peak())
  }
}

/// The length of a file, or -1.
package func fileBytes(_ path: String) -> Int {
  var status = stat()
  return unsafe stat(path, &status) == 0 ? Int(status.st_size) : -1
}

/// Ends the process at once. What a benchmark leaves outstanding is not worth an orderly end.
package func abandonEverything() -> Never { _exit(0) }
