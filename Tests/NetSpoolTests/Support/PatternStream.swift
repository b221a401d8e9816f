import Glibc
import NetSpool
import NetSpoolTesting
import Synchronization

@testable import TestSupport

/// Takes a body of `BodyPattern` and keeps nothing of it: it compares, counts, and says how it was closed.
final class PatternStream: DownloadStream {
  private struct State {
    var bytes = 0
    var isRight = true
    var opened = 0
    var closings: [String] = []
  }

  private static let twice = BodyPattern.bytes(65_521) + BodyPattern.bytes(65_521)
  private let state = Mutex(State())
  private let onBytes: @Sendable (Int) -> Void
  /// Closed while it takes nothing.
  private let door: Flag?

  /// - Parameter onBytes: told, on the loop thread, how many have come.
  init(while door: Flag? = nil, onBytes: @escaping @Sendable (Int) -> Void = { _ in }) {
    (self.door, self.onBytes) = (door, onBytes)
  }

  var count: Int { state.withLock { $0.bytes } }
  /// What came were the bytes of the pattern from the first on.
  var isRight: Bool { state.withLock { $0.isRight } }
  var closings: [String] { state.withLock { $0.closings } }
  var isOpenedOnce: Bool { state.withLock { $0.opened == 1 } }
  /// Opened, filled and closed, each as it should be.
  func isWhole(_ count: Int) -> Bool {
    state.withLock { $0.isRight && $0.bytes == count && $0.opened == 1 && $0.closings == ["whole"] }
  }

  func open(_ head: ResponseHead, bytesExpected: Int64?) { state.withLock { $0.opened += 1 } }

  func write(_ bytes: RawSpan) -> WriteResult {
    if door?.isSet == false { return .pause }
    let count = state.withLock { state in
      var done = 0
      while done < bytes.byteCount, state.isRight {
        let start = state.bytes % 65_521
        let length = min(65_521, bytes.byteCount - done)
        let piece = bytes.extracting(done..<done + length)
        state.isRight = unsafe piece.withUnsafeBytes { piece in
          unsafe Self.twice.withUnsafeBytes { pattern in
            unsafe memcmp(piece.baseAddress!, pattern.baseAddress! + start, length) == 0
          }
        }
        done += length
        state.bytes += length
      }
      return state.bytes
    }
    onBytes(count)
    return .accepted
  }

  func close(_ outcome: Result<Void, NetworkError>) {
    state.withLock { state in
      switch outcome {
      case .success: state.closings.append("whole")
      case .failure(let error): state.closings.append("\(error.code)")
      }
    }
  }
}

/// An answer with a body of `BodyPattern` that may be stored, and that comes so slowly that no disk is far behind: it stops at
/// each 2 MiB.
struct PacedBody {
  private static let step = 2 << 20
  private static let chunk = 65_536

  let path: String
  let count: Int
  var isChunked = false

  /// With further gates, after so many bytes of the body: whole chunks.
  func answer(_ gates: [(name: String, place: Int)] = []) -> Answer {
    var answer = Answer.pattern(count).header("Cache-Control", "max-age=100")
    if isChunked { answer = answer.framed(.chunked(size: Self.chunk)) }
    for place in stride(from: Self.step, to: count, by: Self.step) {
      answer = answer.fault(.gate("pace \(path)"), at: .body(onWire(place)))
    }
    for gate in gates { answer = answer.fault(.gate(gate.name), at: .body(onWire(gate.place))) }
    return answer
  }

  /// Each chunk has 9 bytes more there.
  private func onWire(_ place: Int) -> Int { isChunked ? place + place / Self.chunk * 9 : place }

  /// Lets it come up to a place as the disk takes it; false when it does not.
  func come(
    to end: Int, from origin: ScriptedOrigin, into stream: PatternStream, _ spooled: @Sendable () -> Int
  ) async -> Bool {
    for place in stride(from: Self.step, to: end, by: Self.step) {
      let isThere = await until { stream.count >= place && spooled() >= place - 1 << 20 }
      if !isThere { return false }
      origin.release("pace \(path)", count: 1)
    }
    return true
  }

  func comeAll(from origin: ScriptedOrigin) { origin.release("pace \(path)") }
}
