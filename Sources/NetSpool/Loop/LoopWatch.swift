internal import Synchronization

/// The part that has the loop's thread; all others wait meanwhile.
enum LoopHolder {
  case commands
  /// What follows from finished transfers, and admission.
  case answers
  case closures
  case timer
  /// libcurl, for its own limits of time or for new transfers.
  case transfers
  /// Bytes came on this descriptor, or may go.
  case socket(Int32)
}

/// How long each had a loop. Written by the loop's thread, read by any.
final class LoopWatch: Sendable {
  /// Longer is too long.
  static let turnMax: Microseconds = 50_000

  private let longestEnded = Atomic<Microseconds>(0)
  /// The same since it was taken last.
  private let longestRecent = Atomic<Microseconds>(0)
  private let longEnded = Atomic(0)
  /// When the loop began with what it does now; 0: it waits.
  private let busySince = Atomic<Microseconds>(0)

  /// In microseconds; what has not ended yet counts as well.
  var longest: Microseconds { max(longestEnded.load(ordering: .relaxed), underWay) }
  var longTurns: Int { longEnded.load(ordering: .relaxed) + (underWay > Self.turnMax ? 1 : 0) }

  /// The longest since this was called last.
  func takeLongest() -> Microseconds { max(longestRecent.exchange(0, ordering: .relaxed), underWay) }

  private var underWay: Microseconds {
    let since = busySince.load(ordering: .relaxed)
    return since == 0 ? 0 : MonotonicClock.now - since
  }

  /// The loop's thread: it has something to do, or nothing any more.
  func becomes(busy isBusy: Bool) { busySince.store(isBusy ? MonotonicClock.now : 0, ordering: .relaxed) }

  /// True when it was too long.
  @inline(__always)
  func note(_ time: Microseconds) -> Bool {
    guard time > Self.notedMin else { return false }
    return noteLong(time)
  }

  private static let notedMin: Microseconds = 1_000

  private func noteLong(_ time: Microseconds) -> Bool {
    longestEnded.max(time, ordering: .relaxed)
    longestRecent.max(time, ordering: .relaxed)
    guard time > Self.turnMax else { return false }
    longEnded.add(1, ordering: .relaxed)
    return true
  }
}
