#if Brotli
internal import CNetSpoolBrotli

/// Brotli (RFC 7932), with the windows that it names: 16 MiB at most.
@safe final class BrotliUnpacker: Unpacker {
  private let state: OpaquePointer?
  private(set) var bytesRead = 0
  private var hasGiven = false

  init() { unsafe state = BrotliDecoderCreateInstance(nil, nil, nil) }

  deinit { unsafe BrotliDecoderDestroyInstance(state) }

  /// There is one stream in a body, and nothing behind it.
  func reset() {}

  func step(_ input: RawSpan, into output: inout UnpackedOutput) throws(UnpackingProblem) -> UnpackingStep {
    guard let state = unsafe state else { throw .outOfMemory }
    var room = UnpackedOutput.bytesMax
    var target: UnsafeMutablePointer<UInt8>? = unsafe output.start
    let (result, consumed) = unsafe input.withUnsafeBytes { bytes in
      var left = bytes.count
      var next = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
      let result = unsafe BrotliDecoderDecompressStream(state, &left, &next, &room, &target, nil)
      return (result, bytes.count - left)
    }
    output.count = UnpackedOutput.bytesMax - room
    bytesRead += consumed
    if output.count > 0 { hasGiven = true }
    if result == BROTLI_DECODER_RESULT_ERROR { throw hasGiven ? .damaged : .notEncoded }
    return (consumed, result == BROTLI_DECODER_RESULT_SUCCESS)
  }
}
#endif
