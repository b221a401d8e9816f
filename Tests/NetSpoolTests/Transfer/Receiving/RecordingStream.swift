import NetSpool
import Synchronization

@testable import TestSupport

/// A download stream that remembers what happened to it and behaves as it is told.
final class RecordingStream: DownloadStream {
  struct Log: Sendable {
    var opens = 0
    var bytes: [UInt8] = []
    /// Nil for those that were whole.
    var closes: [NetworkError?] = []
    /// Calls that came where none may come.
    var misplaced = 0
  }

  struct Refusal: Error {}

  let wantsDigest = true
  private let state = Mutex(Log())
  private let onOpen: @Sendable () throws -> Void
  /// How many of so many bytes it takes; nil is all.
  private let onWrite: @Sendable (Int) throws -> Int?
  /// When it takes none it says at once that it can take more.
  private let wakes: Bool
  private let wake = Variable<@Sendable () -> Void>({})

  init(
    wakes: Bool = false, onOpen: @escaping @Sendable () throws -> Void = {},
    onWrite: @escaping @Sendable (Int) throws -> Int? = { _ in nil }
  ) {
    (self.wakes, self.onOpen, self.onWrite) = (wakes, onOpen, onWrite)
  }

  var log: Log { state.withLock { $0 } }

  func willOpen(wake: @escaping @Sendable () -> Void) { if wakes { self.wake.value = wake } }

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    state.withLock { log in
      log.opens += 1
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
    if taken == 0 { wake.value() }
    return taken == 0 ? .pause : .took(taken)
  }

  func close(_ outcome: Result<Void, NetworkError>) {
    let failure: NetworkError? = if case .failure(let error) = outcome { error } else { nil }
    state.withLock { $0.closes.append(failure) }
  }
}
