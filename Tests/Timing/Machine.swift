import Dispatch
import Glibc
import Testing

@testable import TestSupport

/// Whether time on the wall says something about the library here and now. A probe beside the test does what a small GET
/// does, without the library: two threads hand a byte to and fro by a pair of sockets.
final class Machine: Sendable {
  /// What so bare an answer may take where the promise is fifty milliseconds.
  private static let bareMax = Duration.milliseconds(5)
  private static let rounds = 8

  private let isOver = Flag()
  private let times = Journal<Duration>()
  private let ended = DispatchSemaphore(value: 0)

  /// Begins to probe.
  private init() throws {
    let ends = try Self.pair()
    Thread.run {
      var byte: UInt8 = 0
      while unsafe read(ends.1, &byte, 1) == 1, unsafe write(ends.1, &byte, 1) == 1 {}
      close(ends.1)
    }
    Thread.run { [self] in
      repeat {
        times.add(ContinuousClock().measure { for _ in 0..<Self.rounds { Self.call(ends.0) } })
        // Who is woken late is no measure either.
        times.add(ContinuousClock().measure { usleep(5_000) } - .milliseconds(5))
      } while !isOver.isSet
      close(ends.0)
      ended.signal()
    }
  }

  /// Measures a promise, three times where it was missed: what else the machine does only ever adds. A time that was missed
  /// counts only where the machine could have kept it; on a machine that cannot the test is no failure, and says that it has
  /// found nothing out.
  static func measures(
    _ body: () async throws -> Duration, within limit: Duration, _ what: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    for attempt in 1...3 {
      let machine = try Machine()
      let time = try await body()
      let bare = await machine.end()
      if time <= limit { return }
      if bare > bareMax { try Test.cancel("the machine is no measure") }
      guard attempt == 3 else { continue }
      Issue.record(
        "\(what): \(time) instead of \(limit), where a bare answer takes \(bare)",
        sourceLocation: sourceLocation)
    }
  }

  /// The longest of the bare answers.
  private func end() async -> Duration {
    isOver.set()
    await blocking { self.ended.wait() }
    return times.entries.max() ?? .zero
  }

  private static func pair() throws -> (Int32, Int32) {
    var ends: [Int32] = [0, 0]
    guard unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0 else {
      throw PartFailure("socketpair: errno \(errno)")
    }
    return (ends[0], ends[1])
  }

  private static func call(_ end: Int32) {
    var byte: UInt8 = 1
    guard unsafe write(end, &byte, 1) == 1, unsafe read(end, &byte, 1) == 1 else { return }
  }
}

/// Threads that are nobody's pool's.
private enum Thread {
  static func run(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue(label: "machine").async(execute: body)
  }
}

extension Trait where Self == ConditionTrait {
  /// Time on the wall is measured where nothing else of the suite runs: `swift test --filter TimingTests`.
  static var alone: Self {
    .enabled(if: CommandLine.arguments.contains { $0.contains("Timing") }, "time is measured alone")
  }
}
