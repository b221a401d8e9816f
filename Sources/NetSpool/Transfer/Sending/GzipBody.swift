internal import CNetSpoolZlib

/// A whole body as gzip (RFC 1952).
enum GzipBody {
  private static let wrapping: CInt = 31  // 15 bits of window, and a gzip header
  private static let memoryLevel: CInt = 8

  /// Nil without memory.
  static func compress(_ bytes: [UInt8]) -> [UInt8]? {
    var stream = unsafe z_stream()
    let size = unsafe CInt(MemoryLayout<z_stream>.size)
    // The C macro deflateInit2, which Swift cannot see.
    let code = unsafe deflateInit2_(
      &stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, wrapping, memoryLevel, Z_DEFAULT_STRATEGY, ZLIB_VERSION,
      size)
    guard code == Z_OK else { return nil }
    defer { unsafe deflateEnd(&stream) }
    let bound = unsafe Int(deflateBound(&stream, uLong(bytes.count)))
    var isDone = false
    let output = unsafe [UInt8](unsafeUninitializedCapacity: bound) { room, count in
      unsafe bytes.withUnsafeBufferPointer { input in
        unsafe stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
        unsafe stream.avail_in = uInt(input.count)
        unsafe stream.next_out = room.baseAddress
        unsafe stream.avail_out = uInt(room.count)
        isDone = unsafe deflate(&stream, Z_FINISH) == Z_STREAM_END
      }
      count = unsafe room.count - Int(stream.avail_out)
    }
    return isDone ? output : nil
  }
}
