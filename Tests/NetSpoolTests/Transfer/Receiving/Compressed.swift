import CNetSpoolZlib
import Testing

/// zlib's other direction, for the tests.
enum Compressed {
  static func gzip(_ bytes: [UInt8]) throws -> [UInt8] { try deflate(bytes, windowBits: 31) }
  static func zlib(_ bytes: [UInt8]) throws -> [UInt8] { try deflate(bytes, windowBits: 15) }
  static func raw(_ bytes: [UInt8]) throws -> [UInt8] { try deflate(bytes, windowBits: -15) }

  private static func deflate(_ bytes: [UInt8], windowBits: CInt) throws -> [UInt8] {
    var stream = unsafe z_stream()
    let size = unsafe CInt(MemoryLayout<z_stream>.size)
    try #require(
      unsafe deflateInit2_(&stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        == Z_OK)
    defer { unsafe deflateEnd(&stream) }
    var input = bytes
    var output = [UInt8](repeating: 0, count: bytes.count + bytes.count / 100 + 100)
    let count = unsafe input.withUnsafeMutableBufferPointer { from in
      unsafe output.withUnsafeMutableBufferPointer { to in
        unsafe stream.next_in = from.baseAddress
        unsafe stream.avail_in = uInt(from.count)
        unsafe stream.next_out = to.baseAddress
        unsafe stream.avail_out = uInt(to.count)
        #expect(unsafe CNetSpoolZlib.deflate(&stream, Z_FINISH) == Z_STREAM_END)
        return unsafe to.count - Int(stream.avail_out)
      }
    }
    return Array(output.prefix(count))
  }
}
