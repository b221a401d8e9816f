#if Zstd
internal import CNetSpoolZstd

/// Zstandard (RFC 8878), with windows of 8 MiB at most (RFC 9659). Frames in a row are one body.
@safe final class ZstdUnpacker: Unpacker {
  private static let windowLogMax: Int32 = 23

  private let context: OpaquePointer?
  private(set) var bytesRead = 0

  init() {
    unsafe context = ZSTD_createDCtx()
    if let context = unsafe context {
      _ = unsafe ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, Self.windowLogMax)
    }
  }

  deinit { _ = unsafe ZSTD_freeDCtx(context) }

  func reset() {
    bytesRead = 0
    if let context = unsafe context { _ = unsafe ZSTD_DCtx_reset(context, ZSTD_reset_session_only) }
  }

  func step(_ input: RawSpan, into output: inout UnpackedOutput) throws(UnpackingProblem) -> UnpackingStep {
    guard let context = unsafe context else { throw .outOfMemory }
    let start = unsafe output.start
    let (code, consumed, count) = unsafe input.withUnsafeBytes { bytes in
      var source = unsafe ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
      var target = unsafe ZSTD_outBuffer(dst: start, size: UnpackedOutput.bytesMax, pos: 0)
      let code = unsafe ZSTD_decompressStream(context, &target, &source)
      return unsafe (code, source.pos, target.pos)
    }
    output.count = count
    bytesRead += consumed
    if ZSTD_isError(code) != 0 {
      // Its codes are in a header of their own; the names are as stable.
      switch unsafe String(cString: ZSTD_getErrorName(code)) {
      case "Allocation error : not enough memory": throw .outOfMemory
      case "Unknown frame descriptor": throw .notEncoded
      default: throw .damaged
      }
    }
    return (consumed, code == 0)
  }
}
#endif
