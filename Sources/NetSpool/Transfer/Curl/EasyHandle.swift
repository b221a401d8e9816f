internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc

/// A libcurl easy handle: one transfer at a time and, for its whole life, one origin and one scope.
///
/// Options that do not differ between requests are set once; a request changes the path in the handle's
/// pre-parsed URL and nothing else when it is a plain GET.
@safe
final class EasyHandle {
  /// What differs between methods, remembered so that only a change is told to libcurl.
  struct Shape: Equatable {
    var method: Method = .get
    /// Nil: no body. -1: a body of unknown length.
    var bodyBytes: Int64?
    /// Not one of the idle connections (CURLOPT_FRESH_CONNECT).
    var needsFreshConnection = false
    /// Every head line goes to the body's callback too, before libcurl reads it (CURLOPT_HEADER).
    var showsHead = false
  }

  /// libcurl's own type is `void`.
  let easy: UnsafeMutableRawPointer
  private let url: OpaquePointer
  private var lines: SentLines
  private var addresses: UnsafeMutablePointer<curl_slist>?
  /// Where its connections lead instead of to its origin.
  private let goal: UnsafeMutablePointer<curl_slist>?
  private var shape = Shape()
  private(set) var endsConnection = false
  private let alwaysEndsConnection: Bool
  /// Each request has a connection of its own (`ConnectionChoice.own`).
  private let servesOnce: Bool
  private let errorText: UnsafeMutablePointer<CChar>
  private let receiver: UnsafeMutablePointer<cnetspool_receiver>
  private let requiresAlternativeName: Bool
  /// Where the target of a request comes from: `setTarget`.
  private let needsPath: Bool
  private let sendsWholeURL: Bool
  // Kept until the handle has left them.
  private let shared: SharedState
  private let authorities: Authorities?

  init(
    origin: String, settings: HandleSettings, context: UnsafeMutableRawPointer,
    closing: UnsafeMutableRawPointer, shared: SharedState, servesOnce: Bool
  ) throws(NetworkError) {
    guard let easy = unsafe curl_easy_init(), let url = unsafe curl_url() else {
      throw NetworkError(.outOfMemory, reason: "curl_easy_init")
    }
    unsafe self.easy = easy
    unsafe self.url = url
    let isSecure = origin.hasPrefix("https:")
    requiresAlternativeName = isSecure && settings.tls.requiresAlternativeName
    let goal = settings.way.goal(ofHandleFor: origin)
    unsafe self.goal = goal.flatMap { unsafe curl_slist_append(nil, $0) }
    // A proxy is asked by CONNECT where its own reading of the URL would lead elsewhere.
    sendsWholeURL = !isSecure && goal == nil && settings.plainProxy?.isHTTP == true
    needsPath = settings.keepsCookies || sendsWholeURL
    lines = SentLines(joinsCookies: settings.keepsCookies)
    self.shared = shared
    authorities = settings.authorities(isSecure: isSecure)
    self.servesOnce = servesOnce
    alwaysEndsConnection = settings.alwaysEndsConnection || servesOnce
    unsafe errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
    unsafe errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    unsafe receiver = .allocate(capacity: 1)
    unsafe receiver.initialize(to: cnetspool_receiver())
    unsafe receiver.pointee.transfer = context
    ExitGate.arm(.libraries)  // the first easy handle has made libcurl's TLS library ready
    let code = unsafe curl_url_set(url, CURLUPART_URL, origin + "/", 0)
    precondition(code == CURLUE_OK, "NetSpool: an origin is canonical before it gets a handle")
    unsafe setOnce(settings, isSecure: isSecure, context, closing)
  }

  deinit {
    unsafe curl_easy_cleanup(easy)
    unsafe curl_url_cleanup(url)
    unsafe curl_slist_free_all(addresses)
    unsafe curl_slist_free_all(goal)
    unsafe errorText.deallocate()
    unsafe receiver.deallocate()
  }

  private func setOnce(
    _ settings: HandleSettings, isSecure: Bool, _ context: UnsafeMutableRawPointer,
    _ closing: UnsafeMutableRawPointer
  ) {
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_CURLU, UnsafeMutableRawPointer(url))
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_PRIVATE, context)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    unsafe EasyCallbacks.install(on: easy, context: context, closing: closing, receiver)
    unsafe cnetspool_easy_allow_http_only(easy)
    set(CURLOPT_NOSIGNAL, 1)  // saves six system calls a request, and signals are the host's
    set(CURLOPT_QUICK_EXIT, 1)  // cancelling during a name lookup must not wait for it
    set(CURLOPT_FOLLOWLOCATION, 0)  // redirects are ours
    set(CURLOPT_HTTP_CONTENT_DECODING, 0)  // decoding is ours, with limits and a proven end
    set(CURLOPT_HTTP_TRANSFER_DECODING, 0)  // and so are chunks: see `ChunkedBody`
    set(CURLOPT_HTTP09_ALLOWED, 0)
    unsafe cnetspool_easy_ignore_netrc(easy)
    set(CURLOPT_NOPROGRESS, 1)
    set(CURLOPT_CONNECTTIMEOUT_MS, 0x7FFF_FFFF)  // one tick of the loop watches all limits
    set(CURLOPT_TCP_KEEPALIVE, 1)
    let isHTTP2 = settings.mayBeHTTP2(isSecure: isSecure)
    // Only TLS, or prior knowledge, tells before the first answer whether a connection will be HTTP/2; without it
    // everything to an origin would wait for that answer.
    if isHTTP2, !servesOnce { set(CURLOPT_PIPEWAIT, 1) }
    if servesOnce { set(CURLOPT_FRESH_CONNECT, 1) }
    set(CURLOPT_BUFFERSIZE, max(settings.receiveBufferBytes, isHTTP2 ? Quirks.http2HeadBytesMin : 0))
    unsafe settings.apply(to: easy, isSecure: isSecure)
    if unsafe goal != nil { unsafe cnetspool_easy_set_pointer(easy, CURLOPT_CONNECT_TO, goal) }
    unsafe shared.join(easy)
  }

  private func set(_ option: CURLoption, _ value: Int) { unsafe cnetspool_easy_set_long(easy, option, value) }

  /// Points the handle at another path of its origin: the bytes of a canonical URL from an offset on.
  ///
  /// They are sent as they stand (CURLOPT_REQUEST_TARGET), whatever libcurl's own reading would make of them. It reads
  /// the path itself only where it needs it: for cookies, and for a proxy that is told the whole URL, which gets it
  /// from us too.
  /// False where libcurl refuses them; it would send what it was told before.
  func setTarget(of url: String, from offset: Int) -> Bool {
    unsafe url.withCString { text in
      if needsPath, unsafe curl_url_set(self.url, CURLUPART_URL, text, 0) != CURLUE_OK { return false }
      let target = unsafe sendsWholeURL ? text : text + offset
      return unsafe cnetspool_easy_set_string(easy, CURLOPT_REQUEST_TARGET, target) == CURLE_OK
    }
  }

  /// A head is to come, or has come: what the body's callback is given of it.
  func expectHead(_ isExpected: Bool) {
    unsafe receiver.pointee.is_head = isExpected && shape.showsHead ? 1 : 0
    unsafe receiver.pointee.is_inside_line = 0
  }

  func setShape(_ new: Shape) {
    guard new != shape else { return }
    shape = new
    set(CURLOPT_FRESH_CONNECT, new.needsFreshConnection || servesOnce ? 1 : 0)
    set(CURLOPT_HEADER, new.showsHead ? 1 : 0)
    set(CURLOPT_HTTPGET, 1)
    unsafe cnetspool_easy_set_string(easy, CURLOPT_CUSTOMREQUEST, nil)
    if let bytes = new.bodyBytes {
      set(CURLOPT_POST, 1)
      unsafe cnetspool_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, bytes)
      if new.method != .post { setMethodName(new.method) }
    } else if new.method == .head {
      set(CURLOPT_NOBODY, 1)
    } else if new.method != .get {
      setMethodName(new.method)
    }
  }

  private func setMethodName(_ method: Method) {
    unsafe cnetspool_easy_set_string(easy, CURLOPT_CUSTOMREQUEST, method.name)
  }

  /// Tells libcurl the addresses of the origin's name, unless the handles that it shares with know this version. The list
  /// lives until the next one; libcurl reads it once.
  func setAddresses(_ entry: @autoclosure () -> String, version: Int) {
    guard shared.addressesVersion != version else { return }
    shared.addressesVersion = version
    let old = unsafe addresses
    unsafe addresses = curl_slist_append(nil, entry())
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_RESOLVE, addresses)
    unsafe curl_slist_free_all(old)
  }

  /// Sends exactly these lines; see `SentLines`.
  func setHeaders(_ lines: [[UInt8]]) { unsafe self.lines.set(lines, on: easy) }

  /// The connection of this exchange serves no other (CURLOPT_FORBID_REUSE). Libcurl looks at its end, so it
  /// may be said as late as at the head.
  func setEndsConnection(_ isOn: Bool) {
    let isOn = isOn || alwaysEndsConnection
    guard isOn != endsConnection else { return }
    endsConnection = isOn
    set(CURLOPT_FORBID_REUSE, isOn ? 1 : 0)
  }

  /// Makes the handle open connections, TLS included, and send nothing on them (CURLOPT_CONNECT_ONLY).
  func setConnectsOnly() { set(CURLOPT_CONNECT_ONLY, 1) }

  /// A new connection's certificate names the host where it must; an old one's was looked at when it was new.
  var hasProperCertificate: Bool {
    guard requiresAlternativeName, !isOnReusedConnection else { return true }
    return unsafe cnetspool_easy_has_alternative_name(easy) != 0
  }

  /// In the hook before sending: another transfer has used the connection before.
  var isOnReusedConnection: Bool { unsafe cnetspool_easy_long(easy, CURLINFO_NUM_CONNECTS) == 0 }

  /// The port at our end of the connection of the transfer, which may have ended.
  var localPort: Int { unsafe cnetspool_easy_long(easy, CURLINFO_LOCAL_PORT) }

  /// What the TLS library said about the certificate (X509_V_ERR_…); 0: nothing.
  var verifyResult: Int { unsafe cnetspool_easy_long(easy, CURLINFO_SSL_VERIFYRESULT) }

  var isConnected: Bool { pretransferTime > 0 }

  /// Microseconds from the start until an address had answered; 0 before (CURLINFO_CONNECT_TIME_T).
  var connectTime: Int64 { unsafe cnetspool_easy_offset(easy, CURLINFO_CONNECT_TIME_T) }

  /// Microseconds from the start until the request was about to be sent; 0 before (CURLINFO_PRETRANSFER_TIME_T).
  var pretransferTime: Int64 { unsafe cnetspool_easy_offset(easy, CURLINFO_PRETRANSFER_TIME_T) }

  /// libcurl's sentence about the last failure.
  var message: String { unsafe String(cString: errorText) }

  func clearMessage() { unsafe errorText.pointee = 0 }

  func pause() { unsafe curl_easy_pause(easy, Int32(CURLPAUSE_ALL)) }

  /// May call the write and read callbacks before it returns; answers libcurl's code for that. Where there is no connection
  /// any more, as the answer came meanwhile, libcurl complains, and nothing stands still.
  func unpause() -> Int32 {
    let code = unsafe curl_easy_pause(easy, Int32(CURLPAUSE_CONT))
    return code == CURLE_BAD_FUNCTION_ARGUMENT ? 0 : Int32(code.rawValue)
  }

  /// Has libcurl tell of what it does (CURLOPT_VERBOSE): bytes behind an answer without a body it drops without another
  /// event, and what it sends of its own it says nowhere else.
  func setTells(_ isOn: Bool) { set(CURLOPT_VERBOSE, isOn ? 1 : 0) }

  /// TLS has agreed on HTTP/2 for the connection in use.
  var speaksHTTP2: Bool { unsafe TLSSession(easy)?.speaksHTTP2 ?? false }

  /// TLS holds bytes of the connection in use that libcurl has not read.
  var hasUnreadTLS: Bool { unsafe TLSSession(easy)?.hasUnreadBytes ?? false }

  /// The connection that it was on, for observers.
  var connection: WireHead {
    func text(_ info: CURLINFO) -> String {
      unsafe cnetspool_easy_pointer(easy, info).map {
        unsafe String(cString: $0.assumingMemoryBound(to: CChar.self))
      } ?? ""
    }
    func port(_ info: CURLINFO) -> Int { unsafe cnetspool_easy_long(easy, info) }
    return .connection(
      remote: (text(CURLINFO_PRIMARY_IP), port(CURLINFO_PRIMARY_PORT)),
      local: (text(CURLINFO_LOCAL_IP), port(CURLINFO_LOCAL_PORT)))
  }

  func info() -> cnetspool_transfer_info {
    var info = cnetspool_transfer_info()
    unsafe cnetspool_easy_info(easy, &info)
    return info
  }
}

/// The C hooks of an easy handle. Each recovers the transfer, wraps the bytes and calls one method.
enum EasyCallbacks {
  /// `closing` is the multi handle's context: sockets outlive the transfer that opened them.
  static func install(
    on easy: UnsafeMutableRawPointer, context: UnsafeMutableRawPointer, closing: UnsafeMutableRawPointer,
    _ receiver: UnsafeMutablePointer<cnetspool_receiver>
  ) {
    unsafe cnetspool_easy_set_data_callback(easy, CURLOPT_HEADERFUNCTION, receivedHeader)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_HEADERDATA, context)
    unsafe receiver.pointee.receive = receivedBody
    unsafe cnetspool_easy_set_data_callback(easy, CURLOPT_WRITEFUNCTION, cnetspool_receive)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_WRITEDATA, receiver)
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
    unsafe cnetspool_easy_set_debug_callback(easy, debugged)
    unsafe cnetspool_easy_set_pointer(easy, CURLOPT_DEBUGDATA, context)
  }

  @inline(__always)
  private static func transfer(_ context: UnsafeMutableRawPointer?) -> Transfer {
    unsafe Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue()
  }

  /// The same for what comes line by line, without counting a reference: a transfer that libcurl is at work for runs.
  @inline(__always)
  private static func lend(_ context: UnsafeMutableRawPointer?, to body: (Transfer) -> Int) -> Int {
    unsafe Unmanaged<Transfer>.fromOpaque(context!)._withUnsafeGuaranteedRef { body($0) }
  }

  private static let receivedHeader: cnetspool_data_callback = { bytes, _, count, context in
    unsafe lend(context) { transfer in
      let line = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(bytes!), byteCount: count)
      return transfer.received(header: line) ? count : 0
    }
  }

  private static let receivedBody: cnetspool_data_callback = { bytes, _, count, context in
    unsafe lend(context) { transfer in
      let piece = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(bytes!), byteCount: count)
      switch transfer.received(body: piece) {
      case .taken: return count
      case .pause: return Int(cnetspool_write_pause)
      case .abort: return 0
      }
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
    let asks = transfer.hasEgressRule || transfer.interface != nil
    let peer = asks ? unsafe InternetAddress.read(address) : nil
    if transfer.hasEgressRule {
      let end = peer.map { NetworkEngine.Egress.Address(internet: $0.0, port: $0.port) }
      guard transfer.mayConnect(to: end) else { return -1 }
    }
    let address = unsafe address.pointee
    let type = address.socktype | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
    let descriptor = socket(address.family, type, address.protocol)
    if descriptor >= 0, let name = transfer.interface, peer?.0.isLoopback != true {
      guard transfer.bind(descriptor, to: name) else { return -1 }
    }
    transfer.openedSocket(descriptor, errno: descriptor < 0 ? errno : 0)
    return descriptor
  }

  /// libcurl's words, which are asked for only where they are needed (`Transfer.heard`) or a user looks on.
  private static let debugged: cnetspool_debug_callback = { _, kind, bytes, count, context in
    if kind == CURLINFO_HEADER_OUT || kind == CURLINFO_HEADER_IN {
      guard let onWire = unsafe transfer(context).exchange.plan.onWire, let bytes = unsafe bytes else {
        return 0
      }
      let head = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: count))
      onWire(kind == CURLINFO_HEADER_OUT ? .sent(head) : .received(head))
      return 0
    }
    guard kind == CURLINFO_TEXT, let bytes = unsafe bytes, count > 0,
      Transfer.wordsBegin.contains(unsafe UInt8(bitPattern: bytes.pointee))
    else { return 0 }
    let words = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
    unsafe transfer(context).heard(String(decoding: words, as: UTF8.self))
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
