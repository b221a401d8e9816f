/// Gives the bytes of a request body while it is sent. Lives on the loop thread, for one
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
  func open() throws(NetworkError)

  /// Fills some or all of a buffer that is not empty. Throws `.uploadSourceFailed`,
  /// `.uploadLengthMismatch`.
  func read(into buffer: UnsafeMutableRawBufferPointer) throws(NetworkError) -> BodyRead

  /// Starts again at the first byte.
  func rewind() throws(NetworkError)

  /// Lets go of everything; also called when the request ended early.
  func close()
}

/// What a read gave.
enum BodyRead: Hashable, Sendable {
  /// The number of bytes read, at least one.
  case bytes(Int)
  /// Nothing at present; the source's `ready` is called when a read is worth while again.
  case pause
  /// No more bytes will come.
  case end
}
