/// What libcurl's callbacks ask for: sockets, and the request's body.
extension Transfer {
  func openedSocket(errno: Int32) {
    socketErrno = errno
    onSocket(self)
  }

  /// False stops a request that must not be sent twice.
  func mayStartSending() -> Bool {
    sends += 1
    return sends == 1
  }

  /// Nil ends the transfer.
  func fill(_ buffer: UnsafeMutableRawBufferPointer) -> BodyRead? {
    do throws(Failure) {
      let read = unsafe try plan.source?.read(into: buffer) ?? .end
      if case .bytes(let count) = read { bytesSent += Int64(count) }
      return read
    } catch {
      machine.handle(.fail(error))
      return nil
    }
  }

  func rewindBody() -> Bool {
    guard let source = plan.source, source.canRewind else { return false }
    bytesSent = 0
    return (try? source.rewind()) != nil
  }
}
