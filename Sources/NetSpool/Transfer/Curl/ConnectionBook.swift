internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc

/// The open connections of one multi handle, by the port at our end: by that alone a transfer can tell on which one it is.
struct ConnectionBook {
  /// By the port at our end: the number of the last request that the server will process, where it has said so.
  var lastStreams: [Int: Int] = [:]
  private var descriptors: [HashedKey: [Int32]] = [:]
  /// The sockets whose port has not been looked up yet.
  private var unnamed: [Int32] = []
  /// Where sockets were to lead. One that was never connected is closed without a word.
  private var origins: [Int32: String] = [:]

  /// A socket is about to be connected to an origin.
  mutating func opening(_ descriptor: Int32, to origin: String) { origins[descriptor] = origin }

  /// Returns the number of those that are connected, by origin.
  func connections() -> [String: Int] {
    var counts: [String: Int] = [:]
    for (descriptor, origin) in origins where StraySocket.isConnected(descriptor) {
      counts[origin, default: 0] += 1
    }
    return counts
  }

  mutating func opened(_ descriptor: Int32) { unnamed.append(descriptor) }

  mutating func closed(_ descriptor: Int32, port: Int?) {
    unnamed.removeAll { $0 == descriptor }
    origins[descriptor] = nil
    guard let port = port.map({ HashedKey($0) }) else { return }
    descriptors[port]?.removeAll { $0 == descriptor }
    if descriptors[port]?.isEmpty ?? false { descriptors[port] = nil }
  }

  /// Bytes have come on the connection that libcurl has not read.
  mutating func hasUnreadBytes(port: Int) -> Bool {
    descriptors(port: port).contains { StraySocket.firstByte(of: $0) != nil }
  }

  /// The connections with this port; more than one where they lead to several addresses.
  mutating func descriptors(port: Int) -> [Int32] {
    while let descriptor = unnamed.popLast() {
      if let port = StraySocket.localPort(of: descriptor) {
        descriptors[HashedKey(port), default: []].append(descriptor)
      }
    }
    return descriptors[HashedKey(port)] ?? []
  }
}

/// Calls on a socket that libcurl does not know of.
enum StraySocket {
  /// The next byte, left where it is; nil when there is none.
  static func firstByte(of descriptor: Int32) -> UInt8? {
    var byte: UInt8 = 0
    return unsafe recv(descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT)) == 1 ? byte : nil
  }

  /// True if it leads to another machine, or could. libcurl has sockets for its own purposes as well.
  static func isConnection(_ descriptor: Int32) -> Bool {
    var domain: Int32 = 0
    var size = socklen_t(MemoryLayout<Int32>.size)
    let result = unsafe getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &size)
    return result == 0 && (domain == AF_INET || domain == AF_INET6)
  }

  /// True if it has a peer (getpeername(2)).
  static func isConnected(_ descriptor: Int32) -> Bool {
    var bytes = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
    var size = socklen_t(bytes.count)
    return unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe getpeername(descriptor, buffer.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size) == 0
    }
  }

  /// The port at our end; nil when there is none.
  static func localPort(of descriptor: Int32) -> Int? {
    var bytes = [UInt8](repeating: 0, count: MemoryLayout<sockaddr_storage>.size)
    var size = socklen_t(bytes.count)
    let result = unsafe bytes.withUnsafeMutableBytes { buffer in
      unsafe getsockname(descriptor, buffer.baseAddress!.assumingMemoryBound(to: sockaddr.self), &size)
    }
    // In the same place for both families (RFC 3493 section 3.3).
    return result == 0 ? Int(bytes[2]) << 8 | Int(bytes[3]) : nil
  }

  /// Since when nothing has come on a TCP connection (tcp(7), TCP_INFO); 0 for others.
  static func silence(of descriptor: Int32) -> Microseconds {
    information(of: descriptor).map { Microseconds($0.tcpi_last_data_recv) * 1_000 } ?? 0
  }

  /// The smoothed round trip of a TCP connection; 0 for others.
  static func roundTrip(of descriptor: Int32) -> Microseconds {
    information(of: descriptor).map { Microseconds($0.tcpi_rtt) } ?? 0
  }

  private static func information(of descriptor: Int32) -> tcp_info? {
    var info = tcp_info()
    var size = socklen_t(MemoryLayout<tcp_info>.size)
    return unsafe getsockopt(descriptor, CInt(IPPROTO_TCP), TCP_INFO, &info, &size) == 0 ? info : nil
  }

  /// Drops what had come and ends the connection, so that libcurl finds it closed before it uses it again: of one that was
  /// reset it would think that it is alive, and a request that must not be sent twice would fail on it.
  static func end(_ descriptor: Int32) {
    var bytes = [UInt8](repeating: 0, count: 16_384)
    var reads = 0
    while reads < 64, unsafe recv(descriptor, &bytes, bytes.count, CInt(MSG_DONTWAIT)) > 0 { reads += 1 }
    shutdown(descriptor, CInt(SHUT_RDWR))
  }

  /// Resets the connection and drops what had come; the descriptor stays libcurl's to close (connect(2),
  /// AF_UNSPEC).
  static func disconnect(_ descriptor: Int32) {
    var address = sockaddr()
    address.sa_family = sa_family_t(AF_UNSPEC)
    unsafe connect(descriptor, &address, socklen_t(MemoryLayout<sockaddr>.size))
  }
}

/// What the easy handles of one origin on one multi handle have in common besides connections (libcurl-share(3)): the
/// addresses of its name, and TLS sessions, so that a new connection need not begin a whole handshake. For an engine that
/// keeps cookies it is one for all origins, with the cookies.
///
/// libcurl looks at every address that it remembers at the end of every transfer, so what one origin's handles remember
/// must not grow with the number of others.
///
/// All of it is used by one thread, so there are no lock functions.
@safe
final class SharedState {
  private let share: OpaquePointer?
  /// Which addresses libcurl was told; 0: none.
  var addressesVersion = 0

  init(keepsCookies: Bool) {
    unsafe share = OpaquePointer(curl_share_init())
    guard let raw = unsafe raw else { return }
    unsafe cnetspool_share_add(raw, CURL_LOCK_DATA_DNS)
    unsafe cnetspool_share_add(raw, CURL_LOCK_DATA_SSL_SESSION)
    if keepsCookies { unsafe cnetspool_share_add(raw, CURL_LOCK_DATA_COOKIE) }
  }

  /// Every handle keeps this, so none is left.
  deinit { if let raw = unsafe raw { unsafe curl_share_cleanup(raw) } }

  private var raw: UnsafeMutableRawPointer? { unsafe share.map { unsafe UnsafeMutableRawPointer($0) } }

  func join(_ easy: UnsafeMutableRawPointer) { unsafe cnetspool_easy_set_pointer(easy, CURLOPT_SHARE, raw) }

  /// Forgets the cookies; on the thread of the loop.
  func removeCookies() { addCookies([Self.allCookies]) }

  /// Instead of a cookie: forgets those that there are.
  static let allCookies = "ALL"

  /// Takes cookies over: lines of Netscape's file (CURLOPT_COOKIELIST); on the thread of the loop.
  func addCookies(_ lines: [String]) {
    guard let easy = unsafe curl_easy_init() else { return }
    unsafe join(easy)
    for line in lines { unsafe cnetspool_easy_set_string(easy, CURLOPT_COOKIELIST, line) }
    unsafe curl_easy_cleanup(easy)
  }

  /// All cookies as lines of Netscape's file, without those that libcurl has yet to forget; on the thread of the loop.
  var cookieLines: [String] {
    guard let easy = unsafe curl_easy_init() else { return [] }
    unsafe join(easy)
    defer { unsafe curl_easy_cleanup(easy) }
    let list = unsafe cnetspool_easy_pointer(easy, CURLINFO_COOKIELIST)?.assumingMemoryBound(
      to: curl_slist.self)
    defer { unsafe curl_slist_free_all(list) }
    var (lines, next) = unsafe ([String](), list)
    while let entry = unsafe next {
      if let text = unsafe entry.pointee.data { lines.append(unsafe String(cString: text)) }
      unsafe next = entry.pointee.next
    }
    let now = WallClock.milliseconds / 1000
    return lines.filter { !CookieFile.isOver($0, at: now) }
  }
}
