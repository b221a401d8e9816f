internal import CNetSpoolZlib

/// A zlib stream being unpacked, 64 KiB of output at a time.
///
/// A class because zlib keeps a pointer to the `z_stream`, which therefore must never move.
@safe final class Inflater: Unpacker {
  /// What stands around the deflate data (RFC 1951).
  enum Wrapping: CInt {
    /// Header, CRC-32 and length (RFC 1952).
    case gzip = 31
    /// Header and Adler-32 (RFC 1950).
    case zlib = 15
    /// Nothing: there is no checksum, and only the last block's mark proves the end.
    case raw = -15
  }

  static let outputBytes = 64 << 10

  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  private let buffer = UnsafeMutableRawPointer.allocate(byteCount: outputBytes, alignment: 16)
  private(set) var outputCount = 0
  private let isReady: Bool

  init(_ wrapping: Wrapping) {
    unsafe stream.initialize(to: z_stream())
    let size = unsafe CInt(MemoryLayout<z_stream>.size)
    // The C macro inflateInit2, which Swift cannot see.
    isReady = unsafe inflateInit2_(stream, wrapping.rawValue, ZLIB_VERSION, size) == Z_OK
  }

  deinit {
    if isReady { unsafe inflateEnd(stream) }
    unsafe stream.deallocate()
    unsafe buffer.deallocate()
  }

  func withOutput(_ body: (RawSpan) throws -> Void) throws {
    try unsafe body(RawSpan(_unsafeStart: UnsafeRawPointer(buffer), byteCount: outputCount))
  }

  var bytesRead: Int { unsafe Int(stream.pointee.total_in) }

  func reset() { unsafe inflateReset(stream) }

  func step(_ input: RawSpan) throws(UnpackingProblem) -> UnpackingStep {
    guard isReady else { throw .outOfMemory }
    let status = unsafe input.withUnsafeBytes { bytes in
      unsafe inflateOnce(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    }
    outputCount = unsafe Inflater.outputBytes - Int(stream.pointee.avail_out)
    switch status {
    // Z_BUF_ERROR says only that nothing could be done with what was there.
    case Z_OK, Z_STREAM_END, Z_BUF_ERROR:
      let consumed = unsafe input.byteCount - Int(stream.pointee.avail_in)
      let isFull = outputCount == Inflater.outputBytes
      return UnpackingStep(consumed: consumed, isAtEnd: status == Z_STREAM_END, isOutputFull: isFull)
    case Z_MEM_ERROR: throw .outOfMemory
    default: throw isBeginning ? .notEncoded : .damaged
    }
  }

  private func inflateOnce(_ bytes: UnsafeMutableRawPointer?, _ count: Int) -> CInt {
    unsafe stream.pointee.next_in = bytes?.assumingMemoryBound(to: Bytef.self)
    unsafe stream.pointee.avail_in = uInt(count)
    unsafe stream.pointee.next_out = buffer.assumingMemoryBound(to: Bytef.self)
    unsafe stream.pointee.avail_out = uInt(Inflater.outputBytes)
    return unsafe inflate(stream, Z_NO_FLUSH)
  }

  /// zlib refused the stream before it gave a byte, and not because a checksum was wrong.
  private var isBeginning: Bool {
    guard unsafe stream.pointee.total_out == 0 else { return false }
    guard let message = unsafe stream.pointee.msg else { return true }
    let checks = ["incorrect data check", "incorrect length check", "header crc mismatch"]
    return unsafe !checks.contains(String(cString: message))
  }
}
