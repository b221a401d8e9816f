internal import Dispatch

/// A body from memory. The array is shared with the request, not copied.
final class BytesSource: BodySource {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  var length: Int64? { Int64(bytes.count) }
  var canRewind: Bool { true }
  func open() {}
  func rewind() { position = 0 }
  func close() {}

  func read(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    let count = min(buffer.count, bytes.count - position)
    guard count > 0 else { return .end }
    unsafe bytes.withUnsafeBytes { source in
      unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[position..<(position + count)]))
    }
    position += count
    return .bytes(count)
  }
}

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
