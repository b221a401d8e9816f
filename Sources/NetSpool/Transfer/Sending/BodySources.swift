extension PreparedBody {
  /// The source for one attempt; nil without a body. `ready`, which may be called from any thread, says
  /// that a source that answered `.pause` has bytes again.
  func makeSource(ready: @escaping @Sendable () -> Void) -> (any BodySource)? {
    switch self {
    case .none: nil
    case .bytes(let bytes): BytesSource(bytes)
    case .file(let path, let promised): FileSource(path: path, promised: promised)
    case .multipart(let layout): MultipartSource(layout)
    case .stream(let source): ChunkSource(source, ready: ready)
    }
  }

  /// All of it in memory, for what must outlive its files. Reads files on this thread.
  ///
  /// Throws `bodyTooLarge`, `invalidRequest(stream)` for what can be read once only, `uploadSourceFailed`,
  /// `uploadLengthMismatch`.
  func bytes(atMost bytesMax: Int) throws(NetworkError) -> [UInt8] {
    switch self {
    case .none: return []
    case .stream: throw NetworkError(.invalidRequest, reason: "stream")
    case .bytes(let bytes) where bytes.count <= bytesMax: return bytes
    case .bytes, .file, .multipart: break
    }
    guard let length, length <= Int64(bytesMax), let source = makeSource(ready: {}) else {
      throw NetworkError(.bodyTooLarge, reason: "\(bytesMax)")
    }
    defer { source.close() }
    try source.open()
    return try Self.read(source, Int(length))
  }

  private static func read(_ source: any BodySource, _ length: Int) throws(NetworkError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: length)
    var filled = 0
    while filled < length {
      let result = unsafe bytes.withUnsafeMutableBytes { buffer in
        Result { () throws(NetworkError) in
          unsafe try source.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
        }
      }
      guard case .bytes(let count) = try result.get() else {
        throw NetworkError(.uploadLengthMismatch, reason: "got \(filled) of \(length) bytes")
      }
      filled += count
    }
    return bytes
  }
}

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

/// A body from a user's own stream, which gives arrays, held to the length that it declared: libcurl would wait for missing
/// bytes and drop extra ones without a word.
final class ChunkSource: BodySource {
  private let stream: any UploadStream
  private let ready: @Sendable () -> Void
  /// As it was declared.
  let length: Int64?
  private var sent: Int64 = 0
  private var rest: ArraySlice<UInt8> = []
  private var isOpen = false

  init(_ stream: any UploadStream, ready: @escaping @Sendable () -> Void) {
    self.stream = stream
    self.ready = ready
    length = stream.length
  }

  var canRewind: Bool { stream.isReopenable }

  /// A stream that gives its bytes once is opened when the first is wanted: the source may still be closed for another address,
  /// or for want of a descriptor.
  func open() throws(NetworkError) {
    guard canRewind else { return }
    try begin()
    // libcurl asks for nothing of a body without bytes.
    guard length == 0 else { return }
    do throws(NetworkError) { try probeForMore(0) } catch {
      close()
      throw error
    }
  }

  private func begin() throws(NetworkError) {
    let waking = stream as? any WakingUploadStream
    isOpen = true
    do { try stream.open() } catch {
      // What another operation has open is not this one's to close.
      if waking == nil { close() } else { isOpen = false }
      throw Self.failed(error)
    }
    waking?.onReady(ready)
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> BodyRead {
    let read = unsafe try take(into: buffer)
    guard let length else { return read }
    switch read {
    case .pause: break
    case .end: if sent != length { throw mismatch(got: "\(sent)", length) }
    case .bytes(let count):
      sent += Int64(count)
      guard sent <= length else { throw mismatch(got: "at least \(sent)", length) }
      if sent == length { try probeForMore(length) }
    }
    return read
  }

  /// With a known length libcurl asks no further after the last byte, so extra bytes are looked for
  /// before that byte is handed over. A source that pauses instead of ending has kept its promise.
  private func probeForMore(_ length: Int64) throws(NetworkError) {
    var extra: UInt8 = 0
    let read = unsafe try withUnsafeMutableBytes(of: &extra) { probe throws(NetworkError) in
      unsafe try take(into: probe)
    }
    if case .bytes = read { throw mismatch(got: "more than \(length)", length) }
  }

  private func mismatch(got: String, _ length: Int64) -> NetworkError {
    NetworkError(.uploadLengthMismatch, reason: "got \(got), declared \(length)")
  }

  private func take(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> BodyRead {
    if !isOpen { try begin() }
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

  /// A stream that does not tell when it has bytes again is asked again soon.
  private func pause() -> BodyRead {
    if !(stream is any WakingUploadStream) { Later.run(after: .milliseconds(10), ready) }
    return .pause
  }

  func rewind() throws(NetworkError) {
    close()
    try open()
    sent = 0
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    rest = []
    stream.close()
  }

  private static func failed(_ error: any Error) -> NetworkError {
    NetworkError(thrown: error, .uploadSourceFailed, reason: "\(error)")
  }
}
