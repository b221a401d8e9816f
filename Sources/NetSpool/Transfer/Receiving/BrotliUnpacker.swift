#if Brotli
internal import CNetSpoolBrotli

/// Brotli (RFC 7932), with the windows that it names: 16 MiB at most.
@safe final class BrotliUnpacker: Unpacker {
  private let state: OpaquePointer?
  private let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: Inflater.outputBytes)
  private(set) var outputCount = 0
  private(set) var bytesRead = 0
  private var hasGiven = false

  init() { unsafe state = BrotliDecoderCreateInstance(nil, nil, nil) }

  deinit {
    unsafe BrotliDecoderDestroyInstance(state)
    unsafe buffer.deallocate()
  }

  func withOutput(_ body: (RawSpan) throws -> Void) throws {
    try unsafe body(RawSpan(_unsafeStart: UnsafeRawPointer(buffer), byteCount: outputCount))
  }

  /// There is one stream in a body, and nothing behind it.
  func reset() {}

  func step(_ input: RawSpan) throws(UnpackingProblem) -> UnpackingStep {
    guard let state = unsafe state else { throw .outOfMemory }
    let (result, consumed) = unsafe input.withUnsafeBytes { bytes in
      var left = bytes.count
      var next = unsafe bytes.bindMemory(to: UInt8.self).baseAddress
      var room = Inflater.outputBytes
      var output: UnsafeMutablePointer<UInt8>? = unsafe buffer
      let result = unsafe BrotliDecoderDecompressStream(state, &left, &next, &room, &output, nil)
      outputCount = Inflater.outputBytes - room
      return (result, bytes.count - left)
    }
    bytesRead += consumed
    if outputCount > 0 { hasGiven = true }
    switch result {
    case BROTLI_DECODER_RESULT_ERROR: throw hasGiven ? .damaged : .notEncoded
    case BROTLI_DECODER_RESULT_SUCCESS:
      return UnpackingStep(consumed: consumed, isAtEnd: true, isOutputFull: false)
    default:
      let isFull = result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT
      return UnpackingStep(consumed: consumed, isAtEnd: false, isOutputFull: isFull)
    }
  }
}
#endif
