/// Where the bytes of a request body come from while it is sent. Lives on the loop thread, for one
/// attempt at a time.
///
/// Calls come in this order: `open` once, then any number of `read` and `rewind`, then `close` once,
/// whatever happened; after a failed `open` too. None may block longer than a local disk does.
protocol BodySource: AnyObject {
  /// Bytes in all, known before the first read; nil: not known, so the body is sent in chunks.
  var length: Int64? { get }

  /// A second attempt (after a 401, a redirect with 307, a stale connection) can use this object again.
  var canRewind: Bool { get }

  /// Takes hold of what it reads from. Throws `.uploadSourceFailed` while nothing was sent yet.
  func open() throws(Failure)

  /// Fills some or all of a buffer that is not empty. Throws `.uploadSourceFailed`,
  /// `.uploadLengthMismatch`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> BodyRead

  /// Starts again at the first byte.
  func rewind() throws(Failure)

  /// Lets go of everything; also called when the request ended early.
  func close()
}

/// What a read gave.
enum BodyRead: Hashable, Sendable {
  /// So many bytes, at least one.
  case bytes(Int)
  /// Nothing at present; the source's `ready` is called when a read is worth while again.
  case pause
  /// No more bytes will come.
  case end
}

/// A body that someone else produces, once per attempt: what stands in a request until it is sent.
protocol UploadSource: Sendable {
  /// Bytes in all; nil: not known.
  var length: Int64? { get }

  /// `makeSource` can be called again and gives the same bytes. If not, the request is neither retried
  /// nor frozen.
  var canReopen: Bool { get }

  /// A source for one attempt. It may call `ready`, from any thread, after a read that gave `.pause`.
  func makeSource(ready: @escaping @Sendable () -> Void) throws(Failure) -> any BodySource
}
