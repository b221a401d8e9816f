#if Zstd
internal import CNetSpoolZstd

/// Zstandard (RFC 8878), with windows of 8 MiB at most (RFC 9659). Frames in a row are one body.
@safe final class ZstdUnpacker: Unpacker {
  private static let windowLogMax: Int32 = 23

  private let context: OpaquePointer?
  private let buffer = UnsafeMutableRawPointer.allocate(byteCount: Inflater.outputBytes, alignment: 16)
  private(set) var outputCount = 0
  private(set) var bytesRead = 0

  init() {
    unsafe context = ZSTD_createDCtx()
    if let context = unsafe context {
      _ = unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.windowLogMax)
    }
  }

  deinit {
    _ = unsafe ZSTD_freeDCtx(context)
    unsafe buffer.deallocate()
  }

  func withOutput(_ body: (RawSpan) throws -> Void) throws {
    try unsafe body(RawSpan(_unsafeStart: UnsafeRawPointer(buffer), byteCount: outputCount))
  }

  func reset() {
    bytesRead = 0
    if let context = unsafe context { _ = unsafe ZSTD_DCtx_reset(context, ZSTD_reset_session_only) }
  }

  func step(_ input: RawSpan) throws(UnpackingProblem) -> UnpackingStep {
    guard let context = unsafe context else { throw .outOfMemory }
    let (code, consumed) = unsafe input.withUnsafeBytes { bytes in
      var source = unsafe ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
      var target = unsafe ZSTD_outBuffer(dst: buffer, size: Inflater.outputBytes, pos: 0)
      let code = unsafe ZSTD_decompressStream(context, &target, &source)
      outputCount = unsafe target.pos
      return unsafe (code, source.pos)
    }
    bytesRead += consumed
    if ZSTD_isError(code) != 0 {
      // Its codes are in a header of their own; the names are as stable.
      switch unsafe String(cString: ZSTD_getErrorName(code)) {
      case "Allocation error : not enough memory": throw .outOfMemory
      case "Unknown frame descriptor": throw .notEncoded
      default: throw .damaged
      }
    }
    return UnpackingStep(
      consumed: consumed, isAtEnd: code == 0, isOutputFull: outputCount == Inflater.outputBytes)
  }
}
#endif
