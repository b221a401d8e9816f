import Dispatch
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

extension TestFolder {
  func openFrozen(_ change: (inout FrozenStoreSettings) -> Void = { _ in }) throws -> FrozenStore {
    var settings = FrozenStoreSettings(directory: path)
    settings.bytesMax = 64 << 20
    change(&settings)
    return try FrozenStore.open(settings)
  }
}

/// What the store thread answered, for a test that waits.
final class Answers: Sendable {
  private let answers = Mutex<[Result<FrozenReceipt, NetworkError>]>([])

  func add(_ answer: Result<FrozenReceipt, NetworkError>) { answers.withLock { $0.append(answer) } }
  var all: [Result<FrozenReceipt, NetworkError>] { answers.withLock { $0 } }
}

extension FrozenStore {
  /// Has changes written together, and waits.
  func write(_ changes: [FrozenChange]) -> [Result<FrozenReceipt, NetworkError>] {
    let answers = Answers()
    let done = DispatchSemaphore(value: 0)
    let countdown = Countdown(changes.count) { done.signal() }
    for change in changes {
      submit(change) { answer in
        answers.add(answer)
        countdown.signal()
      }
    }
    done.wait()
    return answers.all
  }

  @discardableResult
  func write(_ change: FrozenChange) throws -> FrozenReceipt {
    try #require(write([change]).first).get()
  }

  func accept(_ text: String, lane: String = "a", dedupe: String? = nil, body: [UInt8]? = nil) throws
    -> UInt64
  {
    try write(.accept(.sample(text, lane: lane, dedupe: dedupe), body: body ?? Array(text.utf8))).number
  }

  var numbers: [UInt64] {
    get throws {
      var numbers: [UInt64] = []
      try scan { number, _, _ in
        numbers.append(number)
        return true
      }
      return numbers
    }
  }
}

extension FrozenRow {
  static func sample(_ text: String, lane: String = "a", dedupe: String? = nil) -> FrozenRow {
    let key = LaneKey(lane)
    return FrozenRow(
      lane: KeyDigest((key.first, key.second)), dedupeKey: dedupe.map { Array($0.utf8) },
      payload: Array(text.utf8))
  }
}

extension FrozenEnding {
  static func sample(_ text: String, at wall: Int64 = WallClock.microseconds) -> FrozenEnding {
    FrozenEnding(endedWall: wall, payload: Array(text.utf8))
  }
}
