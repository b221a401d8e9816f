internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc

/// The C hooks of an easy handle. Each recovers the transfer, wraps the bytes and calls one method.
enum EasyCallbacks {
  /// `closing` is the multi handle's context: sockets outlive the transfer that opened them.
  static func install(
    on easy: UnsafeMutableRawPointer, context: UnsafeMutableRawPointer, closing: UnsafeMutableRawPointer
  ) {
    unsafe cnetspool_easy_set_data_callback(easy, CURLOPT_HEADERFUNCTION, receivedHeader)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_HEADERDATA, context)
    unsafe cnetspool_easy_set_data_callback(easy, CURLOPT_WRITEFUNCTION, receivedBody)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_WRITEDATA, context)
    unsafe cnetspool_easy_set_data_callback(easy, CURLOPT_READFUNCTION, wantsBody)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_READDATA, context)
    unsafe cnetspool_easy_set_seek_callback(easy, wantsRewind)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_SEEKDATA, context)
    unsafe cnetspool_easy_set_open_callback(easy, opensSocket)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_OPENSOCKETDATA, context)
    unsafe cnetspool_easy_set_close_callback(easy, closesSocket)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_CLOSESOCKETDATA, closing)
    unsafe cnetspool_easy_set_prereq_callback(easy, willSend)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_PREREQDATA, context)
    unsafe cnetspool_easy_set_debug_callback(easy, told)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_DEBUGDATA, context)
  }

  @inline(__always)
  private static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer {
    unsafe Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
  }

  private static let receivedHeader: cnetspool_data_callback = { bytes, _, count, context in
    let line = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(bytes!), byteCount: count)
    return unsafe transfer(context).received(header: line) ? count : 0
  }

  private static let receivedBody: cnetspool_data_callback = { bytes, _, count, context in
    let piece = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(bytes!), byteCount: count)
    switch unsafe transfer(context).received(body: piece) {
    case .taken: return count
    case .pause: return Int(cnetspool_write_pause)
    case .abort: return 0
    }
  }

  private static let wantsBody: cnetspool_data_callback = { bytes, size, count, context in
    let room = unsafe UnsafeMutableRawBufferPointer(start: bytes, count: size * count)
    switch unsafe transfer(context).fill(room) {
    case .bytes(let filled): return filled
    case .pause: return Int(cnetspool_read_pause)
    case .end: return 0
    case nil: return Int(cnetspool_read_abort)
    }
  }

  private static let wantsRewind: cnetspool_seek_callback = { context, offset, origin in
    guard offset == 0, origin == SEEK_SET else { return Int32(CURL_SEEKFUNC_CANTSEEK) }
    return unsafe transfer(context).rewindBody() ? Int32(CURL_SEEKFUNC_OK) : Int32(CURL_SEEKFUNC_FAIL)
  }

  /// The connection stands, new or old, and the request is about to be sent on it (CURLOPT_PREREQFUNCTION); also when
  /// libcurl sends it again by itself because a reused connection turned out dead.
  private static let willSend: cnetspool_prereq_callback = { context, address, _, port, localPort in
    let transfer = unsafe transfer(context)
    let peer = transfer.hasEgressRule ? unsafe address.flatMap { unsafe InternetAddress(text: $0) } : nil
    return transfer.mayStartSending(to: peer, port: Int(port), localPort: Int(localPort))
      ? Int32(CURL_PREREQFUNC_OK) : Int32(CURL_PREREQFUNC_ABORT)
  }

  /// Opens the socket ourselves: never inherited by children, and running out of descriptors is seen.
  private static let opensSocket: cnetspool_open_callback = { context, _, address in
    let transfer = unsafe transfer(context)
    if transfer.hasEgressRule, !(unsafe transfer.mayConnect(to: InternetAddress.read(address))) { return -1 }
    let address = unsafe address.pointee
    let type = address.socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(address.family, type, address.protocol)
    transfer.openedSocket(descriptor, errno: descriptor < 0 ? errno : 0)
    return descriptor
  }

  /// libcurl's words, which are asked for only where an answer has no body (`EasyHandle.setTellsOfExcess`).
  private static let told: cnetspool_debug_callback = { _, kind, bytes, count, context in
    let excess: StaticString = "Excess found"
    guard kind == CURLINFO_TEXT, let bytes = unsafe bytes, count >= excess.utf8CodeUnitCount,
      unsafe memcmp(bytes, excess.utf8Start, excess.utf8CodeUnitCount) == 0
    else { return 0 }
    unsafe transfer(context).foundExcess()
    return 0
  }

  private static let closesSocket: cnetspool_close_callback = { context, descriptor in
    unsafe Unmanaged<MultiHandle>.fromOpaque(context!).takeUnretainedValue().willClose(descriptor)
    return close(descriptor)
  }
}

extension InternetAddress {
  /// A socket address as libcurl is about to connect to it: the address and the port; nil for another family.
  static func read(_ socket: UnsafeMutablePointer<curl_sockaddr>) -> (InternetAddress, port: Int)? {
    guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
    let start = unsafe UnsafeRawPointer(socket) + offset
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(socket.pointee.addrlen)))
    let part: Range<Int>
    switch unsafe socket.pointee.family {
    case AF_INET: part = 4..<8
    case AF_INET6: part = 8..<24
    default: return nil
    }
    guard bytes.count >= part.upperBound, let address = InternetAddress(bytes[part]) else { return nil }
    return (address, port: Int(bytes[2]) << 8 | Int(bytes[3]))
  }

  /// As libcurl writes it (CURLOPT_PREREQFUNCTION); nil if it is none.
  init?(text: UnsafePointer<CChar>) {
    var bytes = [UInt8](repeating: 0, count: 16)
    if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
      self.init(bytes[..<4])
    } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
      self.init(bytes)
    } else {
      return nil
    }
  }
}
