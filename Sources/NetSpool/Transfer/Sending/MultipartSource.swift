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
        throw NetworkError(.uploadSourceFailed, reason: "changed")
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

  private func closeSegment() {
    current?.close()
    current = nil
  }
}
