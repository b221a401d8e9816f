import NetSpool
import Synchronization

@testable import TestSupport

/// Does what it was armed with, once, when an exchange comes to its point. It is the exchange's stream as well, for the
/// points that only a stream sees.
final class InterferenceTrigger: Sendable {
  private struct State {
    var act: (@Sendable () -> Void)?
    var left: Int
    var hasFired = false
  }

  let fired = Latch()
  private let point: Interference.Point
  private let state: Mutex<State>

  /// - Parameter skips: of the pieces of a body, either way, so many pass.
  init(skips: Int, of point: Interference.Point) {
    self.point = point
    state = Mutex(State(left: skips))
  }

  func arm(_ act: @escaping @Sendable () -> Void) { state.withLock { $0.act = act } }

  /// What it does knows its operation, which knows it.
  func disarm() { state.withLock { $0.act = nil } }

  func fire() {
    let act = state.withLock { state in
      defer { state.hasFired = true }
      return state.hasFired ? nil : state.act
    }
    act?()
    fired.open()
  }

  /// A piece of a body.
  private func passes() {
    let isIt = state.withLock { state in
      defer { state.left -= 1 }
      return state.left == 0
    }
    if isIt { fire() }
  }
}

extension InterferenceTrigger: DownloadStream {
  func open(_ head: ResponseHead, bytesExpected: Int64?) { if point == .head { fire() } }

  func write(_ bytes: RawSpan) -> WriteResult {
    if point == .body { passes() }
    return .accepted
  }

  /// A body may come in fewer pieces than were to pass.
  func close(_ outcome: Result<Void, NetworkError>) { fire() }
}

extension InterferenceTrigger: UploadStream {
  var length: Int64? { 8 * 1_024 }
  func open() {}

  func read(atMost count: Int) -> UploadChunk {
    let left = state.withLock { $0.left }
    guard left > -8 else { return .end }
    passes()
    return .bytes([UInt8](repeating: 7, count: 1_024))
  }

  func close() {}
}
