internal import Glibc

/// A body from a file, opened when it is sent and held to the fingerprint taken when it was enqueued.
///
/// Another file under the name, another size or time: `.uploadSourceFailed` (`changed`), before a byte is
/// sent. A file that changes while it is read ends in `.uploadLengthMismatch` or the same `changed`, with
/// the last bytes held back, so that no origin takes a torn file for a whole one.
final class FileSource: BodySource {
  private let path: String
  private let promised: FileVersion
  private var descriptor: FileDescriptor?
  private var position: Int64 = 0

  init(path: String, promised: FileVersion) {
    self.path = path
    self.promised = promised
  }

  var length: Int64? { promised.size }
  var canRewind: Bool { true }

  func open() throws(NetworkError) {
    do throws(SystemError) {
      // Without O_NONBLOCK a FIFO that took the file's place would hold the loop for ever.
      let opened = try FileDescriptor(opening: path, flags: O_RDONLY | O_NONBLOCK)
      opened.adviseSequential()
      descriptor = consume opened
    } catch { throw FileVersion.failure(error) }
    position = 0
    guard try version() == promised else { throw NetworkError(.uploadSourceFailed, cause: .changed) }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> BodyRead {
    let wanted = min(Int64(buffer.count), promised.size - position)
    guard wanted > 0 else { return .end }
    let part = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(wanted)])
    let count = unsafe try fill(part)
    guard count > 0 else { throw mismatch(got: position) }
    position += Int64(count)
    if position == promised.size { try checkUnchanged() }
    return .bytes(count)
  }

  func rewind() { position = 0 }

  func close() { descriptor = nil }

  /// Reads by offset: a rewind is then an assignment.
  private func fill(_ part: UnsafeMutableRawBufferPointer) throws(NetworkError) -> Int {
    do throws(SystemError) {
      guard descriptor != nil else { throw SystemError(number: EBADF, call: "pread") }
      return unsafe try descriptor!.read(into: part, at: position)
    } catch { throw FileVersion.failure(error) }
  }

  private func checkUnchanged() throws(NetworkError) {
    let now = try version()
    guard now.size == promised.size else { throw mismatch(got: now.size) }
    guard now == promised else { throw NetworkError(.uploadSourceFailed, cause: .changed) }
  }

  private func version() throws(NetworkError) -> FileVersion {
    do throws(SystemError) {
      guard descriptor != nil else { throw SystemError(number: EBADF, call: "fstat") }
      return try FileVersion(FileStatus(of: descriptor!))
    } catch { throw FileVersion.failure(error) }
  }

  private func mismatch(got: Int64) -> NetworkError {
    NetworkError(.uploadLengthMismatch, reason: "got \(got), declared \(promised.size)")
  }
}

/// A multipart body, streamed part by part: at most one file is open, and nothing is copied whole.
final class MultipartSource: BodySource {
  private let layout: Multipart.Layout
  private var next = 0
  private var current: (any BodySource)?

  init(_ layout: Multipart.Layout) { self.layout = layout }

  var length: Int64? { layout.length }
  var canRewind: Bool { true }

  /// Looks at every file, so that a missing or edited one fails the request before its first byte.
  func open() throws(NetworkError) {
    for case .file(let path, let promised) in layout.segments {
      guard try FileVersion.promised(by: path) == promised else {
        throw NetworkError(.uploadSourceFailed, cause: .changed)
      }
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> BodyRead {
    var filled = 0
    while filled < buffer.count {
      guard let source = try segmentSource() else { break }
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
      if case .bytes(let count) = unsafe try source.read(into: rest) {
        filled += count
      } else {
        closeSegment()
      }
    }
    return filled > 0 ? .bytes(filled) : .end
  }

  func rewind() {
    closeSegment()
    next = 0
  }

  func close() { closeSegment() }

  private func segmentSource() throws(NetworkError) -> (any BodySource)? {
    if let current { return current }
    guard next < layout.segments.count else { return nil }
    let source: any BodySource =
      switch layout.segments[next] {
      case .bytes(let bytes): BytesSource(bytes)
      case .file(let path, let promised): FileSource(path: path, promised: promised)
      }
    next += 1
    current = source
    try source.open()
    return source
  }

  private func closeSegment() { current.take()?.close() }
}
