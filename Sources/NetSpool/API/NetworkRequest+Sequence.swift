extension NetworkRequest.Body {
  /// The elements of an asynchronous sequence, sent as they come; one element is read ahead of the network.
  ///
  /// Such a body can be sent once: the request is never repeated, and never frozen; a second one with the same body ends with
  /// `.uploadSourceFailed`, as does an error of the sequence. The sequence begins when a connection wants its first byte, and
  /// is left, its task cancelled, when the operation ends.
  /// - Parameters:
  ///   - chunks: read on a task of its own.
  ///   - length: bytes in all; nil, the default, sends the body in chunks. Another number than the sequence gives ends
  ///     with `.uploadLengthMismatch`; but what it gives when all of these are sent is not asked for.
  ///   - contentType: none unless told otherwise.
  public static func sequence<Chunks: AsyncSequence & Sendable>(
    _ chunks: Chunks, length: Int64? = nil, contentType: String? = nil
  ) -> Self where Chunks.Element == [UInt8] {
    .stream(SequenceUploadStream(chunks, length: length), contentType: contentType)
  }
}
