import Glibc
import Synchronization

/// A count that one thread at a time adds to, on lines of memory of its own: what is counted beside it does not slow it down.
package final class Tally: Sendable {
  private let count = Atomic(0)
  private let failures = Atomic(0)
  // Processors fetch lines of 64 bytes in pairs.
  private let room: [16 of UInt64] = .init(repeating: 0)

  package init() {}

  package var value: Int { count.load(ordering: .relaxed) }
  package var errors: Int { failures.load(ordering: .relaxed) }

  /// No sum of an atomic kind: nobody else writes it.
  package func add(ok: Bool) {
    count.store(value &+ 1, ordering: .relaxed)
    if !ok { failures.store(errors &+ 1, ordering: .relaxed) }
  }
}

/// A stretch of time in which tallies are read at both ends, while work goes on before, in and after it.
///
/// A number of requests that all threads take from would be one line of memory that all of them write: the measurement would
/// be what it finds.
package enum Window {
  /// The time before it, for connections and code.
  private static let warmup: useconds_t = 500_000

  /// Blocks for as long as the options say, and prints what was counted meanwhile.
  package static func report(_ client: String, _ options: Options, over tallies: [Tally]) {
    usleep(warmup)
    let (before, begin) = (sum(tallies), Usage.now())
    usleep(useconds_t(options.milliseconds * 1_000))
    let (count, usage) = (sum(tallies) - before, Usage.now() - begin)
    var report = Report(client: client, options: options)
    report.add(usage, requests: count)
    report.add("rss_max_bytes", Memory.peak())
    // Where nothing ended, nothing was measured.
    report.add("errors", count == 0 ? 1 : tallies.reduce(0) { $0 + $1.errors })
    report.print()
  }

  private static func sum(_ tallies: [Tally]) -> Int { tallies.reduce(0) { $0 + $1.value } }
}
