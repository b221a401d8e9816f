internal import Glibc

/// Writing all of it to somebody else's descriptor, blocking or not.
enum SystemWrite {
  /// Nil when all is written, else the errno.
  static func all(_ bytes: RawSpan, to descriptor: Int32) -> Int32? {
    unsafe bytes.withUnsafeBytes { buffer in
      var done = 0
      while done < buffer.count {
        let count = unsafe write(descriptor, buffer.baseAddress! + done, buffer.count - done)
        if count >= 0 {
          done += count
        } else if errno == EAGAIN {
          var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
          unsafe poll(&wait, 1, -1)
        } else if errno != EINTR {
          return errno
        }
      }
      return nil
    }
  }
}
