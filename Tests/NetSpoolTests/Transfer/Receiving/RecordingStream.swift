import NetSpool
import Synchronization

/// A download stream that remembers what happened to it and behaves as it is told.
final class RecordingStream: DownloadStream {
  struct Log: Sendable {
    var opens = 0
    var bytes: [UInt8] = []
    var closes: [Result<Void, NetworkError>] = []
    var expected: Int64?
    /// Calls that came where none may come.
    var misplaced = 0
  }

  struct Refusal: Error {}

  let wantsDigest = true
  private let state = Mutex(Log())
  private let onOpen: @Sendable () throws -> Void
  /// How many of so many bytes it takes; nil is all.
  private let onWrite: @Sendable (Int) throws -> Int?

  init(
    onOpen: @escaping @Sendable () throws -> Void = {},
    onWrite: @escaping @Sendable (Int) throws -> Int? = { _ in nil }
  ) {
    self.onOpen = onOpen
    self.onWrite = onWrite
  }

  var log: Log { state.withLock { $0 } }

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    state.withLock { log in
      log.opens += 1
      log.expected = bytesExpected
      if !log.closes.isEmpty { log.misplaced += 1 }
    }
    try onOpen()
  }

  func write(_ bytes: RawSpan) throws -> WriteResult {
    let taken = try onWrite(bytes.byteCount)
    state.withLock { log in
      if log.opens != 1 || !log.closes.isEmpty { log.misplaced += 1 }
      unsafe bytes.extracting(..<(taken ?? bytes.byteCount)).withUnsafeBytes { bytes in
        unsafe log.bytes.append(contentsOf: bytes)
      }
    }
    guard let taken else { return .accepted }
    return taken == 0 ? .pause : .took(taken)
  }

  func close(_ outcome: Result<Void, NetworkError>) { state.withLock { $0.closes.append(outcome) } }
}
