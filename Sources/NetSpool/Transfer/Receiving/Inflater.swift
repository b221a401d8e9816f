internal import CNetSpoolZlib

/// A zlib stream being unpacked.
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

  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
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
  }

  var bytesRead: Int { unsafe Int(stream.pointee.total_in) }

  func reset() { unsafe inflateReset(stream) }

  func step(_ input: RawSpan, into output: inout UnpackedOutput) throws(UnpackingProblem) -> UnpackingStep {
    guard isReady else { throw .outOfMemory }
    unsafe stream.pointee.next_out = output.start
    unsafe stream.pointee.avail_out = uInt(UnpackedOutput.bytesMax)
    let status = unsafe input.withUnsafeBytes { bytes in
      unsafe inflateOnce(UnsafeMutableRawPointer(mutating: bytes.baseAddress), bytes.count)
    }
    output.count = unsafe UnpackedOutput.bytesMax - Int(stream.pointee.avail_out)
    switch status {
    // Z_BUF_ERROR says only that nothing could be done with what was there.
    case Z_OK, Z_STREAM_END, Z_BUF_ERROR:
      let consumed = unsafe input.byteCount - Int(stream.pointee.avail_in)
      return (consumed, status == Z_STREAM_END)
    case Z_MEM_ERROR: throw .outOfMemory
    default: throw isBeginning ? .notEncoded : .damaged
    }
  }

  private func inflateOnce(_ bytes: UnsafeMutableRawPointer?, _ count: Int) -> CInt {
    unsafe stream.pointee.next_in = bytes?.assumingMemoryBound(to: Bytef.self)
    unsafe stream.pointee.avail_in = uInt(count)
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

/// The room for what one step unpacks: 64 KiB.
@safe struct UnpackedOutput: ~Copyable {
  static let bytesMax = 64 << 10

  let start = UnsafeMutablePointer<UInt8>.allocate(capacity: bytesMax)
  /// What the last step unpacked, in bytes.
  var count = 0

  deinit { unsafe start.deallocate() }

  /// There may have been no room for more: the step is asked again even without more input.
  var isFull: Bool { count == Self.bytesMax }

  func lend(to body: (RawSpan) throws -> Bool) throws -> Bool {
    try unsafe body(RawSpan(_unsafeStart: UnsafeRawPointer(start), byteCount: count))
  }
}
