internal import Synchronization

/// Who has the loop's thread; all others wait meanwhile.
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

  /// In microseconds.
  let longest = Atomic<Microseconds>(0)
  let longTurns = Atomic(0)

  /// True when it was too long.
  @inline(__always)
  func note(_ time: Microseconds) -> Bool {
    guard time > Self.notedMin else { return false }
    return noteLong(time)
  }

  private static let notedMin: Microseconds = 1_000

  private func noteLong(_ time: Microseconds) -> Bool {
    if time > longest.load(ordering: .relaxed) { longest.store(time, ordering: .relaxed) }
    guard time > Self.turnMax else { return false }
    longTurns.add(1, ordering: .relaxed)
    return true
  }
}
