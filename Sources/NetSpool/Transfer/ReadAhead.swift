/// How much origins may send over HTTP/2 before anybody takes it, in all answers of a queue that go to streams and come on a
/// connection that other requests may use.
///
/// Libcurl lets an origin send 32 MiB of each body, and keeps in memory what comes for a transfer that is paused, as it goes on
/// reading for the others on the connection. A hundred streams that take nothing would be 3 GiB. An answer beyond the limit
/// comes on a connection of its own: libcurl does not read that while its only transfer is paused, so the origin has to wait.
enum ReadAhead {
  /// Libcurl 7.88's window for each body; newer versions have 10 MiB.
  static let windowBytes = 32 << 20
  static let bytesMax = 256 << 20
}
