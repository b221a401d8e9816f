internal import Glibc

extension SystemFile {
  /// A descriptor of our own for what another descriptor is open on, which never blocks a write and
  /// changes nothing for anybody else who shares it.
  ///
  /// O_NONBLOCK belongs to the open file description, which a shell's children and a parent share;
  /// setting it for us sets it for them, and restoring it later cannot undo what they met meanwhile.
  /// So a pipe or terminal is opened a second time through `/proc`, which makes a new description. A socket
  /// is only duplicated: it can be asked per call (`send`). Files and devices never make a writer wait.
  static func privateWriter(
    for descriptor: CInt, kind: Status.Kind
  ) throws(CallFailure) -> SystemFile {
    let waits = kind == .pipe || (kind == .characterDevice && isatty(descriptor) == 1)
    guard waits else { return try duplicate(of: descriptor) }
    do {
      let flags = O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
      return SystemFile(owning: try check { unsafe open("/proc/self/fd/\(descriptor)", flags) })
    } catch {
      // ENXIO: a pipe that nobody reads any more; that is the EPIPE of the first write.
      if error.number == ENXIO { throw CallFailure(number: EPIPE) }
      return try duplicateNonblocking(descriptor)
    }
  }

  private static func duplicate(of descriptor: CInt) throws(CallFailure) -> SystemFile {
    SystemFile(owning: try check { fcntl(descriptor, F_DUPFD_CLOEXEC, 3) })
  }

  /// The last resort, without `/proc` or for a pipe of another user: the shared description is changed.
  private static func duplicateNonblocking(_ descriptor: CInt) throws(CallFailure) -> SystemFile {
    let copy = try duplicate(of: descriptor)
    let flags = try check { fcntl(copy.descriptor, F_GETFL) }
    try check { fcntl(copy.descriptor, F_SETFL, flags | O_NONBLOCK) }
    return copy
  }
}
