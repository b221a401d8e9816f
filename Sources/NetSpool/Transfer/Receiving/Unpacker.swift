/// A compressed stream being unpacked.
protocol Unpacker: AnyObject {
  /// Bytes of the current stream that were read, its wrapping included.
  var bytesRead: Int { get }
  /// Begins another stream of the same kind.
  func reset()
  /// Unpacks from `input` until it is used up, the output is full, or the stream ends.
  func step(_ input: RawSpan, into output: inout UnpackedOutput) throws(UnpackingProblem) -> UnpackingStep
}

enum UnpackingProblem: Error {
  /// The bytes do not begin as such a stream does.
  case notEncoded
  /// The data contradicts itself or its checksum.
  case damaged
  case outOfMemory
}

/// What a step has used of its input, and whether the stream has ended.
typealias UnpackingStep = (consumed: Int, isAtEnd: Bool)
