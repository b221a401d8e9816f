internal import Dispatch

/// A body from closures that give arrays: how a user's own stream is sent.
final class ChunkSource: BodySource {
  enum Chunk: Sendable { case bytes([UInt8]), pause, end }

  let length: Int64?
  let canRewind: Bool
  private let ready: @Sendable () -> Void
  private let openStream: () throws -> Void
  private let next: (Int) throws -> Chunk
  private let closeStream: () -> Void
  private var rest: ArraySlice<UInt8> = []
  private var isOpen = false

  init(
    length: Int64?, canRewind: Bool, ready: @escaping @Sendable () -> Void, open: @escaping () throws -> Void,
    next: @escaping (Int) throws -> Chunk, close: @escaping () -> Void
  ) {
    self.length = length
    self.canRewind = canRewind
    self.ready = ready
    openStream = open
    self.next = next
    closeStream = close
  }

  func open() throws(Failure) {
    do { try openStream() } catch { throw Self.failed(error) }
    isOpen = true
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> BodyRead {
    if rest.isEmpty {
      do {
        switch try next(buffer.count) {
        case .bytes(let bytes): rest = bytes[...]
        case .end: return .end
        case .pause: return pause()
        }
      } catch { throw Self.failed(error) }
    }
    guard !rest.isEmpty else { return pause() }  // no bytes are no end
    let count = min(buffer.count, rest.count)
    unsafe buffer.copyBytes(from: rest.prefix(count))
    rest = rest.dropFirst(count)
    return .bytes(count)
  }

  /// Nobody tells when the stream has bytes again, so it is asked again soon.
  private func pause() -> BodyRead {
    DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(10), execute: ready)
    return .pause
  }

  func rewind() throws(Failure) {
    close()
    try open()
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    rest = []
    closeStream()
  }

  private static func failed(_ error: any Error) -> Failure {
    Failure(.uploadSourceFailed, reason: "\(error)")
  }
}
