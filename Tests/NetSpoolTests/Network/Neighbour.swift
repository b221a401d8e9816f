import Dispatch
import Glibc

@testable import NetSpool
@testable import TestSupport

/// Another machine at the other end of a cable: a network namespace with an address and a small web server.
///
/// The near end of the cable is `near0` with 192.0.2.2; the far one has 192.0.2.1, and 198.51.100.7 is behind it.
final class Neighbour: Sendable {
  static let address = "192.0.2.1"
  static let beyond = "198.51.100.7"
  static let port: UInt16 = 8080

  /// Its namespace, as a file.
  private let place = Variable("")
  private let hits = Counter()
  private let peerList = Journal<String>()
  /// Whom it has answered, by address.
  var peers: [String] { peerList.entries }
  /// Requests answered.
  var hitCount: Int { hits.value }

  /// Plugs it in.
  init() throws {
    let (isThere, mayListen, listens) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    // A thread that never ends, so nobody else ever runs in its namespace.
    try SystemThread.start(name: "neighbour") { [self] in
      leaveNetwork()
      isThere.signal()
      mayListen.wait()
      let socket = Self.listen()
      listens.signal()
      while let socket { answer(accept(socket)) }
    }.detach()
    isThere.wait()
    try plugIn()
    mayListen.signal()
    listens.wait()
  }

  /// unshare(2), which the Glibc module hides.
  private func leaveNetwork() {
    typealias Unshare = @convention(c) (Int32) -> Int32
    guard let address = unsafe dlsym(nil, "unshare"),
      unsafe unsafeBitCast(address, to: Unshare.self)(0x4000_0000) == 0  // CLONE_NEWNET
    else { return }
    let number = unsafe open("/proc/thread-self/ns/net", O_RDONLY)
    place.value = "/proc/\(getpid())/fd/\(number)"
  }

  private func plugIn() throws {
    let place = place.value
    guard !place.isEmpty else { throw PartFailure("no second namespace") }
    try Namespace.ip("link add near0 type veth peer name far0")
    try Namespace.ip("link set far0 netns \(place)")
    for words in [
      "link set lo up", "addr add \(Self.address)/24 dev far0", "addr add \(Self.beyond)/32 dev lo",
      "link set far0 up",
    ] { try Namespace.command("nsenter --net=\(place) ip \(words)") }
    try Namespace.ip("addr add 192.0.2.2/24 dev near0")
    try Namespace.ip("link set near0 up")
  }

  /// Lays a second cable: `wifi0` with 203.0.113.2 at the near end, 203.0.113.1 at the far one.
  func plugInAgain() throws {
    try Namespace.ip("link add wifi0 type veth peer name far1")
    try Namespace.ip("link set far1 netns \(place.value)")
    try ip("addr add 203.0.113.1/24 dev far1")
    try ip("link set far1 up")
    try Namespace.ip("addr add 203.0.113.2/24 dev wifi0")
    try Namespace.ip("link set wifi0 up")
  }

  /// Runs `ip` with these words at its end.
  func ip(_ words: String) throws {
    try Namespace.command("nsenter --net=\(place.value) ip \(words)")
  }

  // MARK: The server

  private static func listen() -> Int32? {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    let size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let bound = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(number, $0, size) }
    }
    return bound == 0 && Glibc.listen(number, 64) == 0 ? number : nil
  }

  private func accept(_ socket: Int32) -> Int32 {
    var address = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let number = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.accept(socket, $0, &size)
      }
    }
    let bytes = unsafe withUnsafeBytes(of: address.sin_addr) { unsafe Array($0) }
    if number >= 0 { peerList.add(bytes.map(String.init).joined(separator: ".")) }
    return number
  }

  /// One request, one answer. A connection without a request gets none.
  private func answer(_ number: Int32) {
    guard number >= 0, let connection = try? TestDescriptor(owning: number, from: "accept") else { return }
    guard connection.readHead().contains("\r\n\r\n") else { return }
    hits.add()
    let head =
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\nETag: \"1\"\r\nCache-Control: max-age=0\r\n"
    try? connection.write(Array("\(head)\r\nok".utf8))
  }
}
