import Glibc

/// A file descriptor, closed with its last reference.
final class TestDescriptor: Sendable {
  let number: Int32

  /// Takes over a descriptor, or the -1 of a call that failed.
  init(owning number: Int32, from call: String) throws {
    guard number >= 0 else { throw PartFailure("\(call): errno \(errno)") }
    self.number = number
  }

  deinit { close(number) }

  /// Two connected ends, both close-on-exec from birth: `pipe` cannot do that, and a copy that slipped
  /// into another test's child would keep this end open.
  static func makePair() throws -> (ours: TestDescriptor, theirs: TestDescriptor) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
      throw PartFailure("socketpair: errno \(errno)")
    }
    return (
      try TestDescriptor(owning: ends[0], from: "socketpair"),
      try TestDescriptor(owning: ends[1], from: "socketpair")
    )
  }

  /// Whether there is something to read, or its end, before the deadline.
  func isReadable(before deadline: Deadline) -> Bool {
    repeat {
      var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
      let count = unsafe poll(&entry, 1, deadline.millisecondsLeft)
      if count > 0 { return true }
      if count < 0, errno != EINTR { return false }
    } while deadline.millisecondsLeft > 0
    return false
  }

  /// The next bytes; none at the end.
  func read(before deadline: Deadline) throws -> [UInt8] {
    guard isReadable(before: deadline) else { throw PartFailure("descriptor \(number): nothing came") }
    let buffer = unsafe [UInt8](unsafeUninitializedCapacity: 64 * 1024) { buffer, count in
      count = unsafe max(0, recv(number, buffer.baseAddress, buffer.count, 0))
    }
    return buffer
  }

  /// Everything up to the end.
  func readToEnd(before deadline: Deadline) throws -> [UInt8] {
    var all: [UInt8] = []
    while true {
      let more = try read(before: deadline)
      if more.isEmpty { return all }
      all += more
    }
  }

  /// Text up to an empty line, or what has come when the other end closes or is silent.
  func readHead() -> String {
    var head = ""
    while !head.contains("\r\n\r\n"), let more = try? read(before: .generous), !more.isEmpty {
      head += String(decoding: more, as: UTF8.self)
    }
    return head
  }

  func write(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes {
        unsafe send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw PartFailure("send: errno \(errno)") }
      rest = rest.dropFirst(count)
    }
  }
}
