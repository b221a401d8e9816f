internal import Dispatch

/// A body from a user's own stream, which gives arrays.
final class ChunkSource: BodySource {
  private let stream: any UploadStream
  private let ready: @Sendable () -> Void
  private var rest: ArraySlice<UInt8> = []
  private var isOpen = false

  init(_ stream: any UploadStream, ready: @escaping @Sendable () -> Void) {
    self.stream = stream
    self.ready = ready
  }

  var length: Int64? { stream.length }
  var canRewind: Bool { stream.isReopenable }

  func open() throws(NetworkError) {
    do { try stream.open() } catch { throw Self.failed(error) }
    isOpen = true
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> BodyRead {
    if rest.isEmpty {
      do {
        switch try stream.read(atMost: buffer.count) {
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

  func rewind() throws(NetworkError) {
    close()
    try open()
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    rest = []
    stream.close()
  }

  private static func failed(_ error: any Error) -> NetworkError {
    NetworkError(.uploadSourceFailed, reason: "\(error)")
  }
}
