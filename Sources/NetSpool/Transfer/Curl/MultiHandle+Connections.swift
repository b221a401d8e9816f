/// What a connection says before it is asked.
extension MultiHandle {
  /// For how long nothing has come on a connection; 0: that is not known.
  func silence(localPort: Int) -> Microseconds {
    book.descriptors(port: localPort).map { StraySocket.silence(of: $0) }.min() ?? 0
  }

  /// How long a connection takes there and back, as the kernel has measured it; 0: that is not known.
  func roundTrip(localPort: Int) -> Microseconds {
    book.descriptors(port: localPort).map { StraySocket.roundTrip(of: $0) }.max() ?? 0
  }

  /// The server ends a connection behind the request with this number (GOAWAY, RFC 9113 section 6.8).
  func didGoAway(localPort: Int, lastStream: Int) {
    book.lastStreams[localPort] = lastStream
    givenUp.excuse(port: localPort)
  }

  /// Ends a connection, which libcurl finds closed by the other side.
  func shutDown(localPort: Int) {
    for descriptor in book.descriptors(port: localPort) { StraySocket.end(descriptor) }
  }
}
