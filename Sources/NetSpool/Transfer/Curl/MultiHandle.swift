internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import CNetSpoolUV

/// A libcurl multi handle, driven by the loop through its socket interface
/// (curl_multi_socket_action(3)).
@safe
final class MultiHandle {
  private let loop: EventLoop
  // Safe because it is replaced on the loop thread only, while no transfer is on it and nothing of libcurl runs.
  @exclusivity(unchecked) var multi: UnsafeMutableRawPointer
  /// A model's, which plays libcurl and all origins.
  weak var wire: (any SimulatedWire)?
  // Safe because libcurl's callbacks, which come in here, come on the loop thread as `add` and `remove` do, and because an
  // array and a book call nobody back.
  /// The watches by descriptor; a watch lives as long as its connection.
  @safe @exclusivity(unchecked) private var watches: [SocketWatch?] = []
  private var timer: LoopTimer?
  /// libcurl said "timeout 0": it wants to be called now, which is this iteration and not in a millisecond.
  private var isDue = false
  /// Transfers that asked libcurl to leave their connection alone for now.
  var pausedTransfers = 0
  // Safe because `add` and `remove`, between which a transfer is, assert the loop thread, and arrays call nobody back.
  /// Transfers that were paused because their call took long, until the next turn.
  @safe @exclusivity(unchecked) private var postponed: [Transfer] = []
  /// Transfers that failed when they were resumed, with libcurl's code.
  @safe @exclusivity(unchecked) private var broken: [(transfer: Transfer, code: CURLcodeValue)] = []
  private var callBegan: Microseconds = 0
  /// Counts what libcurl has told, and taken of bodies.
  private var moves = 0
  private let quirks: MultiQuirks
  private let calls = GuardedCalls()
  private var isGuarded = false
  @safe @exclusivity(unchecked) var book = ConnectionBook()
  @safe @exclusivity(unchecked) var givenUp = GivenUpConnections()
  /// The ports of connections that the guard has cut off, and when that was seen.
  private var cutPorts: [Int: Microseconds] = [:]
  /// Transfers under way.
  private var running = 0
  /// The number of connections that libcurl keeps open.
  @safe @exclusivity(unchecked) private var kept: KeptConnections
  /// Runs for a while after the last transfer, and then closes what is idle.
  private var idleTimer: LoopTimer?
  private let idleMax: Microseconds
  var isUnused: Bool { running == 0 }
  /// The number of transfers that were made for it, one for each host at least.
  var transfersMade = 0
  /// True if it has a successor, and begins nothing new.
  var isRetired = false

  /// What all its handles share, if cookies are kept; else there is one for each origin.
  let cookies: SharedState?

  /// - Parameters:
  ///   - few: connections that it may always keep open.
  ///   - idleMax: without a transfer for so long, it closes its connections: libcurl does so only when the next begins, and
  ///     would not use those of that age (CURLOPT_MAXAGE_CONN(3)).
  init(loop: EventLoop, few: Int, idleMax: Microseconds, cookies: SharedState? = nil) throws(NetworkError) {
    guard let multi = unsafe curl_multi_init() else {
      throw NetworkError(.outOfMemory, reason: "curl_multi_init")
    }
    self.loop = loop
    self.cookies = cookies
    unsafe self.multi = multi
    quirks = MultiQuirks(loop: loop)
    self.idleMax = idleMax
    kept = KeptConnections(few: few)
    timer = LoopTimer(on: loop) { [unowned self] in
      isDue = true
      self.loop.markDirty()
    }
    idleTimer = LoopTimer(on: loop) { [unowned self] in closeIdle() }
    install()
  }

  private func install() {
    let context = unsafe Unmanaged.passUnretained(self).toOpaque()
    unsafe cnetspool_multi_set_socket_callback(multi) { _, descriptor, what, context, _ in
      unsafe Unmanaged<MultiHandle>.fromOpaque(context!).takeUnretainedValue().watch(descriptor, what)
      return 0
    }
    unsafe cnetspool_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
    unsafe cnetspool_multi_set_timer_callback(multi) { _, milliseconds, context in
      unsafe Unmanaged<MultiHandle>.fromOpaque(context!).takeUnretainedValue().schedule(milliseconds)
      return 0
    }
    unsafe cnetspool_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
    unsafe cnetspool_multi_set_long(multi, CURLMOPT_MAXCONNECTS, kept.count)
    unsafe cnetspool_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, 100)
  }

  /// What a socket must call before it is closed; unretained, so the multi outlives its handles.
  var closingContext: UnsafeMutableRawPointer { unsafe Unmanaged.passUnretained(self).toOpaque() }

  // MARK: Transfers

  func add(_ transfer: Transfer) {
    loop.assertOnLoop()
    running += 1
    if let wire { return wire.began(transfer) }
    if let count = kept.change(running: running, now: transfer.exchange.startedAt) {
      unsafe cnetspool_multi_set_long(multi, CURLMOPT_MAXCONNECTS, count)
    }
    unsafe curl_multi_add_handle(multi, transfer.handle.easy)
  }

  func remove(_ transfer: Transfer) {
    loop.assertOnLoop()
    running -= 1
    if let wire { return wire.ended(transfer) }
    unsafe curl_multi_remove_handle(multi, transfer.handle.easy)
    if running == 0, let idleTimer, !idleTimer.isActive {
      idleTimer.start(milliseconds: UInt64(idleMax / 1_000))
    }
  }

  /// Closes all connections if none has been used for so long, and gives back what was lent for them. The handle itself
  /// goes, as libcurl has no call for that; transfers that are ready for the next request stay.
  private func closeIdle() {
    guard running == 0 else { return }
    let idle = MonotonicClock.now - callBegan
    guard idle >= idleMax else {
      idleTimer?.start(milliseconds: UInt64(max(1, (idleMax - idle) / 1_000)))
      return
    }
    guard let next = unsafe curl_multi_init() else { return }
    unsafe curl_multi_cleanup(multi)
    unsafe multi = next
    kept.giveBack()
    timer?.stop()
    install()
  }

  /// The next transfer that ended, with libcurl's code.
  func nextDone() -> (Transfer, CURLcodeValue)? {
    if let (transfer, code) = broken.popLast() { return (transfer, code) }
    var code = CURLE_OK
    guard let easy = unsafe cnetspool_multi_next_done(multi, &code) else { return nil }
    let context = unsafe cnetspool_easy_private(easy)!
    let transfer = unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
    if code == CURLE_OK, let port = transfer.exchange.sharedPort, transfer.mayBeGivenUp {
      haveOthersLook(at: port)
    }
    return (transfer, Int32(code.rawValue))
  }

  typealias CURLcodeValue = Int32

  /// Calls libcurl if it asked to be called now; true when it did, and transfers may have moved.
  func runIfDue() -> Bool {
    guard isDue else { return false }
    isDue = false
    var running: Int32 = 0
    call { unsafe cnetspool_multi_timed_out(multi, &running) }
    passLastByte()
    loop.didHold(.transfers, since: callBegan)
    return true
  }

  /// Runs one call into libcurl, which lasts as long as bytes come unless `CallGuard` ends it.
  @inline(__always)
  func call(_ body: () -> CURLMcode) {
    callBegan = MonotonicClock.now
    if isGuarded { calls.enter() }
    _ = body()
    if isGuarded { calls.leave() }
    unsafe quirks.didReturn(to: multi)
  }

  #if DEBUG
  /// libcurl was given the last byte of a body, and sends it before it returns.
  var takesLastByte = false
  #endif

  @inline(__always)
  private func passLastByte() {
    #if DEBUG
    if takesLastByte { Failpoint.pass(.afterLastByte) }
    takesLastByte = false
    #endif
  }

  // MARK: Callbacks

  private func schedule(_ milliseconds: Int) {
    switch milliseconds {
    case ..<0: timer?.stop()
    case 0:
      isDue = true
      loop.markDirty()
    default: timer?.start(milliseconds: UInt64(milliseconds))
    }
  }

  private func watch(_ descriptor: Int32, _ what: Int32) {
    let index = Int(descriptor)
    while watches.count <= index { watches.append(nil) }
    if what == CURL_POLL_REMOVE { return release(index) }
    var events: SocketWatch.Events = []
    if what & CURL_POLL_IN != 0 { events.insert(.readable) }
    if what & CURL_POLL_OUT != 0 { events.insert(.writable) }
    if watches[index] == nil {
      let isConnection = StraySocket.isConnection(descriptor)
      if isConnection { book.opened(descriptor) }
      watches[index] = SocketWatch(
        on: loop, descriptor: descriptor, outlivesUse: isConnection,
        onIdleEvent: { [unowned self] in strayed(descriptor) }
      ) { [unowned self] events in
        fired(descriptor, events)
      }
    }
    watches[index]?.want(events)
  }

  /// libcurl wants nothing of a socket for now, or is about to close it. Only those of a working connection are
  /// closed through CURLOPT_CLOSESOCKETFUNCTION. One that is not established is still connecting, and others are
  /// those by which a thread tells that it has found a name: they go without a word, so their watch ends here.
  private func release(_ index: Int) {
    guard let watch = watches[index] else { return }
    watch.want([])
    guard !(watch.isEstablished && watch.outlivesUse) else { return }
    watches[index] = nil
    watch.close()
  }

  /// Answers how long that took.
  private func fired(_ descriptor: Int32, _ events: SocketWatch.Events) -> Microseconds {
    var flags: Int32 = 0
    if events.contains(.readable) { flags |= CURL_CSELECT_IN }
    if events.contains(.writable) { flags |= CURL_CSELECT_OUT }
    var running: Int32 = 0
    let movesBefore = moves
    call { unsafe curl_multi_socket_action(multi, descriptor, flags, &running) }
    passLastByte()
    if let watch = watches[Int(descriptor)], watch.didServe(events, inVain: moves == movesBefore) {
      quirks.rest(watch)
    }
    return loop.didServeSocket(descriptor, since: callBegan)
  }

  /// Bytes on a connection that no transfer uses, if it is not simply closed: an answer to nothing. libcurl would
  /// give them to the next request (RFC 9112 section 9.2 tells clients to close), so the connection is undone and
  /// libcurl finds it dead. A paused transfer looks the same from here, so while there is one nothing is done.
  ///
  /// TLS speaks without being asked, but its records begin with 20 to 23 (RFC 8446 section 5.1), and HTTP/2 does, whose
  /// frames begin with 0 (RFC 9113 section 4.1): neither begins a status line.
  private func strayed(_ descriptor: Int32) {
    guard pausedTransfers == 0, let first = StraySocket.firstByte(of: descriptor), first != 0,
      !(20...23).contains(first)
    else { return }
    StraySocket.end(descriptor)
  }

  /// libuv aborts when a descriptor is closed under its poll, so the poll ends first.
  func willClose(_ descriptor: Int32) {
    let port = StraySocket.localPort(of: descriptor)
    if isGuarded, let cut = calls.willClose(descriptor) { cutPorts[cut.port] = cut.time }
    book.closed(descriptor, port: port)
    if let port { givenUp.didClose(port: port) }
    let index = Int(descriptor)
    guard index < watches.count, let watch = watches[index] else { return }
    watches[index] = nil
    watch.close()
  }

  // MARK: End

  /// Closes all connections. Socket callbacks come in meanwhile, so `self` must still be whole.
  func close() {
    if isGuarded { CallGuard.shared.forget(calls) }
    unsafe curl_multi_cleanup(multi)
    quirks.close()
    for watch in watches { watch?.close() }
    watches = []
    timer.take()?.close()
    idleTimer.take()?.close()
    kept.giveBack()
  }
}

/// What stands in for libcurl and the network in a model. It tells a transfer what comes by the transfer's own methods, and its
/// end by `MultiHandle.didBreak`.
protocol SimulatedWire: AnyObject {
  func began(_ transfer: Transfer)
  func resumed(_ transfer: Transfer)
  /// Ended, or taken off.
  func ended(_ transfer: Transfer)
}

/// Time: no transfer keeps the others waiting.
extension MultiHandle {
  /// libcurl has been at it for so long that the others want their turn, and its transfers are put off until the next:
  /// half as long where others have been put off, of which there may be dozens.
  @inline(__always)
  var isCallLong: Bool {
    MonotonicClock.now - callBegan >= (postponed.isEmpty ? Turn.length : Turn.length / 2)
  }

  @inline(__always)
  func didProgress() {
    moves &+= 1
    if isGuarded { calls.didProgress() }
  }

  /// libcurl was given some of a body to send.
  @inline(__always)
  func didFill() { moves &+= 1 }

  /// Resumed with the next turn.
  func postpone(_ transfer: Transfer) {
    postponed.append(transfer)
    loop.markDirty()
  }

  /// Lets a transfer go on, which may hand out bytes as well; answers libcurl's code for that.
  func resume(_ transfer: Transfer) -> CURLcodeValue {
    callBegan = MonotonicClock.now
    guard let wire else { return transfer.handle.unpause() }
    wire.resumed(transfer)
    return 0
  }

  /// The code for a callback that refused, and for a connection that HTTP/2 has ended.
  static var writeFailed: CURLcodeValue { CURLcodeValue(CURLE_WRITE_ERROR.rawValue) }
  static var http2Failed: CURLcodeValue { CURLcodeValue(CURLE_HTTP2.rawValue) }

  /// Lets those go on that were put off, the oldest first: one at least, the others as long as there is time.
  func resumePostponed(in turn: Turn) {
    guard !postponed.isEmpty else { return }
    let ready = postponed
    postponed = []
    for (index, transfer) in ready.enumerated() {
      transfer.resumeByTurn()
      guard turn.isOver(at: MonotonicClock.now) else { continue }
      postponed.insert(contentsOf: ready[(index + 1)...], at: 0)
      break
    }
    if !postponed.isEmpty { loop.markDirty() }
  }

  /// Notes a transfer that failed while it was resumed, which is no event of libcurl's.
  func didBreak(_ transfer: Transfer, code: CURLcodeValue) {
    broken.append((transfer, code))
    loop.markDirty()
  }

  /// Forgets a transfer that is no longer under way.
  func forget(_ transfer: Transfer) {
    if !broken.isEmpty { broken.removeAll { $0.transfer === transfer } }
    if !postponed.isEmpty { postponed.removeAll { $0 === transfer } }
  }

  /// A transfer is paused, or goes on. By its connection if others share that, else 0.
  func didPause(localPort: Int, by count: Int) {
    pausedTransfers += count
    if isGuarded, localPort != 0 { calls.didPause(localPort: localPort, by: count) }
  }

  /// A TLS connection is being opened: it may be flooded.
  func openedSecureSocket(_ descriptor: Int32) {
    if !isGuarded {
      isGuarded = true
      CallGuard.shared.watch(calls)
      calls.enter()
    }
    calls.opened(descriptor)
  }
}

/// Connections that libcurl or the guard has told of.
extension MultiHandle {
  /// A new connection stands, and the first request is about to be sent on it. libcurl 8 may read the answer before it
  /// wants to be told of any.
  /// - Parameter servesOne: TLS has told that it serves one transfer at a time, so no other need wait for it.
  func didConnect(localPort: Int, servesOne: Bool) {
    if servesOne { quirks.didConnect() }
    book.lastStreams[localPort] = nil
    for descriptor in book.descriptors(port: localPort) where Int(descriptor) < watches.count {
      watches[Int(descriptor)]?.didConnect()
    }
  }

  /// True if the guard has cut off the connection of a transfer that has ended. libcurl tells of that some calls later.
  func wasCutOff(localPort: Int) -> Bool {
    guard isGuarded else { return false }
    let since = MonotonicClock.now - Self.cutMax
    if calls.hasCut(localPort: localPort, since: since) { return true }
    guard let time = cutPorts[localPort] else { return false }
    if time >= since { return true }
    cutPorts[localPort] = nil
    return false
  }

  /// Later the port is another connection's.
  private static let cutMax: Microseconds = 1_000_000

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
