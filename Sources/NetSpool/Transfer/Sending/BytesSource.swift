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
