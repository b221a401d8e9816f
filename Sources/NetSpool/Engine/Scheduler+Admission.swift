/// How an operation gets its slot and starts.
extension Scheduler {
  /// Has those begin whose turn it is. False: there are more, for the next turn.
  func admit(in turn: Turn) -> Bool {
    loop.assertOnLoop()
    // Streams have buffers, so only so many stored bodies of an engine go out at once.
    while let next = rooms.nextPlayback() { next.goOn() }
    exchanges.countDescriptors(isAwaited: rooms.hasCrowded)
    seats.keepTurns()
    takeParked()
    defer { seats.giveBackPlaces() }
    var turn = turn
    exchanges.newTransfers = 0
    while exchanges.running.count < exchanges.descriptors.width,
      let operation = seats.next(exchanges.running, lends: !context.isClosing)
    {
      guard let origin = operation.loop.origin else { continue }
      takeTurn(operation, at: origin)
      if exchanges.newTransfers == Self.newTransfersMax || turn.isOver() {
        loop.markDirty()
        return false
      }
    }
    lookAtRoomsAgain()
    return true
  }

  /// Where nothing else brings a turn for those that wait for room.
  private func lookAtRoomsAgain() {
    if rooms.hasReady { return loop.markDirty() }
    // Where another loop has the place or the room that it waits for, nothing here tells of it.
    guard roomsWatch == nil,
      rooms.hasPatient || seats.isSomebodyStarved || !isAlone && (rooms.hasCrowded || rooms.waitForStreams)
    else { return }
    roomsWatch = timers.after(milliseconds: Self.roomsMilliseconds) { [unowned self] in
      roomsWatch = nil
      if !isAlone { rooms.lookAtStreams() }
    }
  }

  /// Makes those that there may be room for now the next again.
  private func takeParked() {
    guard rooms.hasParked else { return }
    let ready =
      rooms.takeReady()
      + rooms.crowded.take(
        atMost: min(exchanges.descriptors.crowd - exchanges.running.count, seats.uncrowded))
    for wait in ready.reversed() { wait.goOn() }
  }

  /// So soon the next of those who wait for room are looked at, when nothing else brings a turn.
  private static let roomsMilliseconds: UInt64 = 20

  /// Made in one turn: each means a connection mostly, which takes libcurl five times as long as a request on an open one,
  /// and libcurl makes all of them in one call.
  private static let newTransfersMax = 32

  /// Where an operation waits whose engine has no room for it: others of the same origin may go.
  func roomList(_ operation: NetworkOperation) -> WaitList? {
    if crowds(operation) { return rooms.crowded }
    let hasRoom = operation.engine.checkRoomToDeliver()
    let mayStream = operation.loop.hasStreams || operation.loop.waitersLeft > 0
    if hasRoom,
      !mayStream || operation.loop.transfer != nil || rooms.hasRoomForStreams(operation.engine)
        || !operation.streamsAnswer
    {
      return nil
    }
    return rooms.list(of: operation.engine, forStreams: hasRoom)
  }

  /// Places have become few, and its engine has some of them. Its own place in the queue is counted already.
  private func crowds(_ operation: NetworkOperation) -> Bool {
    guard exchanges.running.count >= exchanges.descriptors.crowd || seats.areLentTheLast else { return false }
    return operation.loop.transfer == nil && operation.engine.seats.running > 0
  }

  /// Begins the exchange, or goes on with the one that was paused.
  func start(_ operation: NetworkOperation) -> Step {
    guard let origin = operation.loop.origin else { return .done }
    do throws(NetworkError) {
      try operation.withSent { request throws(NetworkError) in try start(operation, request, at: origin) }
      return .done
    } catch {
      context.queue.finished(origin.id)
      origins.apply(.abandoned, to: origin)
      move(operation, to: .deciding)
      return .fail(error)
    }
  }

  private func start(
    _ operation: NetworkOperation, _ request: NetworkRequest, at origin: Origin
  ) throws(NetworkError) {
    let now = MonotonicClock.now
    origins.apply(.started, to: origin, now: now)
    if operation.loop.transfer != nil { return goOn(operation) }
    let credential = planner.authenticator.credential(of: operation, request)
    let (connections, share) = planner.connections(for: operation, at: origin, credential)
    let transfer = try idleTransfer(at: origin, for: operation, credential, connections)
    transfer.exchange.readAhead = share
    try planner.plan(&transfer.exchange.plan, operation, request, transfer, credential)
    operation.loop.transfer = transfer
    operation.forEachRecipient { if $0.hasStreams { makeSinks(of: $0, for: operation) } }
    operation.loop.cacheUse?.beginExchange()
    let failure = operation.loop.extras?.nameFailure.take()
    let name = names.name(for: operation, at: origin)
    if failure == nil, let name, let host = name.host, !name.addresses.isEmpty {
      transfer.tell(addresses: name.entry(of: host), version: name.version)
    }
    transfer.interface = operation.engine.interfaces.flatMap { interface(of: $0, for: operation, at: origin) }
    transfer.begin(for: operation, fanout: operation.loop.extras?.fanout, now: now, failing: failure)
    transfer.exchange.addressesVersion = name?.version ?? 0
    if !transfer.exchange.wasAdded {
      context.later { [unowned self] in
        if transfer.exchange.owner === operation, case .running = operation.loop.phase {
          completed(transfer, code: nil)
        }
      }
    }
    if let fanout = transfer.exchange.fanout { heed(fanout, of: transfer) }
    move(operation, to: .running)
    operation.forEachRecipient { didStart($0) }
    if operation.loop.waitersLeft > 0 { limitEach(operation, transfer) }
  }

  private func idleTransfer(
    at origin: Origin, for operation: NetworkOperation, _ credential: NetworkCredentials?,
    _ connections: ConnectionChoice
  ) throws(NetworkError) -> Transfer {
    let scope = HandleScope(
      engine: operation.engine.id, streams: operation.hasStreams, identity: credential?.id ?? 0,
      connections: connections)
    if let transfer = origin.idle.take(scope) { return transfer }
    exchanges.newTransfers += 1
    var settings = operation.engine.handleSettings
    // Such a name escapes the list of public suffixes, and with it a cookie for a whole country.
    if settings.keepsCookies, origin.hasTrailingDot {
      throw NetworkError(.invalidURL, reason: "trailing dot")
    }
    if let credential { settings.identify(as: credential) }
    if scope.streams {
      settings.receiveBufferBytes = max(settings.receiveBufferBytes, HandleSettings.streamBufferBytes)
    }
    let origins = origins
    let reach = operation.engine.reach
    let multi = try pools.multi(for: settings, of: scope, within: reach, loop: loop) { multi in
      for origin in origins.all { origin.idle.drop(of: multi) }
    }
    let transfer = try Transfer(
      origin: origin.text, scope: scope, settings: settings, multi: multi,
      shared: origin.idle.shared(on: multi))
    transfer.onStall = { [unowned self] in exchanges.watchReaders() }
    transfer.onInformational = { [unowned self] transfer, head in noteInformational(transfer, head) }
    transfer.onHead = { [unowned self] transfer, head in didReceive(head, transfer) }
    transfer.onSilence = { [unowned origin] in origin.leave($0.scope.connections) }
    transfer.onSocket = { [unowned self, unowned origin] _ in
      context.later { self.context.queue.markResolved(origin.id) }
    }
    return transfer
  }

  /// A paused transfer has its slot again.
  private func goOn(_ operation: NetworkOperation) {
    guard let transfer = operation.loop.transfer else { return }
    move(operation, to: .running)
    set(.executing, operation)
    transfer.resumeByUser()
    if transfer.isPausedByReader { exchanges.watchReaders() }
  }

  // MARK: Readers that do not read

  /// A transfer that only waits for its streams keeps its connection, and nobody else's place.
  func yieldPlace(of transfer: Transfer) {
    guard !transfer.exchange.hasYielded, let operation = transfer.exchange.owner as? NetworkOperation,
      let origin = operation.loop.origin
    else { return }
    if operation.isJudged { origins.apply(.abandoned, to: origin) }
    seats.comeBack(transfer)
    operation.loop.cacheUse?.claim = nil
    transfer.exchange.hasYielded = true
    transfer.exchange.isJudged = false
    context.queue.finished(origin.id)
    seats.seat(operation.engine, running: -1)
    rooms.takeStreams(operation.engine)
    streamWatch.begin(operation)
    letFollowersGo(operation)
    loop.markDirty()
  }

  /// Has those who share the answer and have got nothing of it ask for themselves: another's stream takes no more.
  private func letFollowersGo(_ leader: NetworkOperation) {
    guard leader.loop.waitersLeft > 0 else { return }
    coalescer.leave(leader)
    for waiter in leader.loop.waiters where waiter.leader === leader && !waiter.loop.hasSinks {
      move(waiter, to: .deciding)
      set(.queued, waiter)
      go(waiter, from: .enter)
    }
  }

  /// Its streams take more: it goes on at once, and those that came meanwhile end first before others begin.
  func takePlaceAgain(_ transfer: Transfer) {
    guard transfer.exchange.hasYielded, let operation = transfer.exchange.owner as? NetworkOperation,
      let origin = operation.loop.origin
    else { return }
    transfer.exchange.hasYielded = false
    context.queue.goesOn(origin.id)
    seats.seat(operation.engine, running: 1)
    rooms.giveStreams(operation.engine)
  }
}
