/// A compressed stream being unpacked, 64 KiB of output at a time.
protocol Unpacker: AnyObject {
  /// What the last step unpacked, in bytes.
  var outputCount: Int { get }
  /// Lends what the last step unpacked.
  func withOutput(_ body: (RawSpan) throws -> Void) throws
  /// Bytes of the current stream that were read, its wrapping included.
  var bytesRead: Int { get }
  /// Begins another stream of the same kind.
  func reset()
  /// Unpacks from `input` until it is used up, the output is full, or the stream ends.
  func step(_ input: RawSpan) throws(UnpackingProblem) -> UnpackingStep
}

enum UnpackingProblem: Error {
  /// The bytes do not begin as such a stream does.
  case notEncoded
  /// The data contradicts itself or its checksum.
  case damaged
  case outOfMemory
}

struct UnpackingStep {
  var consumed: Int
  var isAtEnd: Bool
  /// There was no room for more: ask again even without more input.
  var isOutputFull: Bool
}
