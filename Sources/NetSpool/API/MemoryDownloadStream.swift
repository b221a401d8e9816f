internal import Synchronization

/// A body into memory, beside other streams.
public final class MemoryDownloadStream: DownloadStream {
  private let state = Mutex(State())
  private let bytesMax: Int

  private struct State { var bytes: [UInt8] = [], isWhole = false }

  /// - Parameter bytesMax: a body over it ends the operation with `.sinkFailed`; 64 MiB by default.
  public init(bytesMax: Int = 64 << 20) { self.bytesMax = bytesMax }

  /// What has arrived so far. Any thread.
  public var bytes: [UInt8] { state.withLock { $0.bytes } }
  /// The body is whole.
  public var isWhole: Bool { state.withLock { $0.isWhole } }

  /// Makes room for the body.
  public func open(_ head: ResponseHead, bytesExpected: Int64?) {
    state.withLock { $0.bytes.reserveCapacity(min(Int(bytesExpected ?? 0), bytesMax)) }
  }

  /// Appends.
  public func write(_ bytes: RawSpan) throws -> WriteResult {
    let fits = state.withLock { state in
      guard state.bytes.count + bytes.byteCount <= bytesMax else { return false }
      state.bytes.append(bytes)
      return true
    }
    guard fits else { throw NetworkError(code: .bodyTooLarge, reason: "more than \(bytesMax) bytes") }
    return .accepted
  }

  /// Notes whether the body is whole.
  public func close(_ outcome: Result<Void, NetworkError>) {
    state.withLock { state in
      if case .success = outcome { state.isWhole = true }
    }
  }
}
