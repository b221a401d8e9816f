internal import Glibc
internal import Synchronization

@testable import NetSpool

/// Says what it is told to, whatever it is asked, and closes: one connection after the other, on one port of
/// 127.0.0.1 and 127.0.0.2.
final class RawOrigin: Sendable {
  struct State: Sendable {
    /// What the next connections are answered with; the last one stays.
    var script: [[UInt8]] = []
    /// All that came in since `play`, a connection each.
    var requests: [[UInt8]] = []
  }

  let port: UInt16
  private let listeners: [Int32]
  private let state = Mutex(State())

  init() {
    let first = Self.listen("127.0.0.1", port: 0)
    port = Self.port(of: first)
    listeners = [first, Self.listen("127.0.0.2", port: port)]
  }

  func start() {
    do {
      try SystemThread.start(name: "raw-origin") { [self] in serve() }.detach()
    } catch {
      broken("there is a thread for the origin: \(error)")
    }
  }

  func play(_ script: [[UInt8]]) { state.withLock { $0 = State(script: script) } }

  var requests: [[UInt8]] { state.withLock { $0.requests } }

  // MARK: The thread

  private func serve() {
    var watched = listeners.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while unsafe poll(&watched, nfds_t(watched.count), -1) >= 0 || errno == EINTR {
      for entry in watched where entry.revents != 0 {
        let connection = accept(entry.fd, nil, nil)
        if connection >= 0 { answer(connection) }
      }
    }
  }

  private func answer(_ connection: Int32) {
    defer { close(connection) }
    var wait = timeval(tv_sec: 1, tv_usec: 0)
    unsafe setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    unsafe setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &wait, socklen_t(MemoryLayout<timeval>.size))
    let request = readHead(connection)
    guard !request.isEmpty else { return }
    let answer = state.withLock { state in
      state.requests.append(request)
      return state.script.count > 1 ? state.script.removeFirst() : state.script.first ?? []
    }
    var rest = answer[...]
    while !rest.isEmpty {
      let count = unsafe rest.withUnsafeBytes { bytes in
        unsafe send(connection, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }

  private func readHead(_ connection: Int32) -> [UInt8] {
    var request: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while !request.suffix(4).elementsEqual([0x0D, 0x0A, 0x0D, 0x0A]) {
      let count = unsafe recv(connection, &buffer, buffer.count, 0)
      guard count > 0 else { break }
      request += buffer.prefix(count)
    }
    return request
  }

  // MARK: Sockets

  private static func listen(_ address: String, port: UInt16) -> Int32 {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    var yes: Int32 = 1
    unsafe setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, 4)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = port.bigEndian
    name.sin_addr.s_addr = unsafe inet_addr(address)
    let status = unsafe withUnsafePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0, Glibc.listen(listener, 64) == 0 else { broken("\(address):\(port) can be had") }
    return listener
  }

  private static func port(of listener: Int32) -> UInt16 {
    var name = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    unsafe withUnsafeMutablePointer(to: &name) { name in
      unsafe name.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        _ = unsafe getsockname(listener, $0, &size)
      }
    }
    return UInt16(bigEndian: name.sin_port)
  }
}
