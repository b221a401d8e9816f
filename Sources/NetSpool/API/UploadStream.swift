/// A request body that is produced while it is sent.
///
/// All calls come on the loop thread, one at a time: `open`, any number of `read`, `close`; again from
/// `open` for another attempt if `isReopenable`. None may block.
public protocol UploadStream: Sendable {
  /// Bytes in all; nil sends the body in chunks. A stream that gives more or less ends with
  /// `.uploadLengthMismatch`.
  var length: Int64? { get }
  /// The same bytes can be given again after `close`; without it the request is not repeated. No stream is ever frozen.
  var isReopenable: Bool { get }
  /// The first byte is wanted next.
  func open() throws
  /// The next bytes, at most so many.
  func read(atMost count: Int) throws -> UploadChunk
  /// Exactly once per `open`, however it ended.
  func close()
}

extension UploadStream {
  /// True unless said otherwise.
  public var isReopenable: Bool { true }
}

/// What an upload stream gives.
public enum UploadChunk: Sendable, Hashable {
  /// The next bytes; at least one.
  case bytes([UInt8])
  /// None now; asked again after 10 ms.
  case pause
  /// No more.
  case end
}
