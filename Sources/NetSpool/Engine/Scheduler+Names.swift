/// The addresses of an origin's name, and those who wait for them.
///
/// libcurl would start a thread for each lookup and leave it to itself when it is cancelled. So names are looked up
/// before an operation waits for its slot, and libcurl is given the addresses.
struct OriginName {
  /// What is to be looked up; nil for an address, and for what libcurl answers itself or we do not spell as it does.
  let host: String?
  let port: Int
  fileprivate(set) var addresses: [String] = []
  /// Changes with each answer: libcurl is told once.
  fileprivate(set) var version = 0
  fileprivate var foundAt: Microseconds = 0
  /// By the engine that asked: who waits in a long line must not have others wait with it. The first answer is everybody's.
  fileprivate var lookups: [UInt64: NameResolver.Lookup] = [:]
  /// The operations that wait; nil: none does.
  fileprivate var waiting: WaitList?
  /// The addresses are there, and some of them go on in each turn: what comes meanwhile goes behind them.
  fileprivate var isGoingOn = false
  fileprivate var letsGo = false

  init(_ origin: URLPieces.Origin) {
    let isPlain = origin.host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }
    host = origin.hostIsAddress || origin.isLoopback || !isPlain ? nil : origin.host
    port = origin.port
  }

  /// How libcurl's list has it (CURLOPT_RESOLVE): an entry that goes after a minute as one of its own.
  func entry(of host: String) -> String {
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    return "+\(name):\(port):\(addresses.joined(separator: ","))"
  }

  /// A name is asked for again after so long, shortly before libcurl forgets it; until then nobody waits for that.
  fileprivate static let freshTime: Microseconds = 55_000_000
  /// An answer this old is none.
  fileprivate static let staleTime: Microseconds = 300_000_000

  fileprivate func isKnown(_ now: Microseconds) -> Bool {
    !addresses.isEmpty && now - foundAt < Self.staleTime
  }

  fileprivate mutating func endLookups() {
    for lookup in lookups.values { lookup.cancel() }
    lookups = [:]
  }
}

extension Scheduler {
  /// True when the operation must wait for the name; it goes on by itself then.
  func mustWaitForName(
    _ operation: NetworkOperation, at origin: Origin, _ priority: NetworkRequest.Priority, atFront: Bool
  ) -> Bool {
    guard let host = origin.name.host, operation.loop.extras?.nameFailure == nil,
      operation.engine.handleSettings.needsAddresses(of: origin), operation.loop.transfer == nil
    else { return false }
    let now = MonotonicClock.now
    let isKnown = origin.name.isKnown(now)
    if !isKnown || now - origin.name.foundAt >= OriginName.freshTime {
      lookUp(host, of: origin, for: operation.engine)
    }
    if isKnown, !origin.name.isGoingOn || origin.name.letsGo { return false }
    let connect = operation.timeLimits(operation.sent).connect.seconds
    let left = max(0, operation.secondsLeft(operation.sent, nil))
    let cause = left < connect ? NetworkError.Cause.total : .connect
    let waiting = origin.name.waiting ?? WaitList()
    origin.name.waiting = waiting
    suspend(
      operation, for: .addresses, in: waiting, atMost: UInt64(min(left, connect, 1e9) * 1000),
      failing: NetworkError(.timedOut, cause: cause)
    ) { [unowned self] failure in
      if let failure { operation.makeExtras().nameFailure = failure }
      wait(operation, operation.loop.priority, atFront: atFront && failure?.code == .timedOut)
    }
    return true
  }

  private func lookUp(_ host: String, of origin: Origin, for engine: NetworkEngine) {
    guard origin.name.lookups[engine.id] == nil else { return }
    // Until the answer is there libcurl shall have the old one.
    if !origin.name.addresses.isEmpty { origin.name.version += 1 }
    let (port, reference) = (port, LoopReference(origin))
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    origin.name.lookups[engine.id] = names.look(
      up: name, for: engine.id, counting: engine.counters.names
    ) { addresses in
      port.perform(of: QueueDriver.Command.house) { scheduler in
        if let origin = reference.object { scheduler.found(addresses, for: origin) }
      }
    }
  }

  private func found(_ addresses: [String]?, for origin: Origin) {
    origin.name.endLookups()
    if let addresses {
      origin.name.addresses = addresses
      origin.name.version += 1
      origin.name.foundAt = MonotonicClock.now
    }
    // What an earlier answer lets go goes on.
    guard let waiting = origin.name.waiting, !origin.name.isGoingOn else { return }
    if addresses == nil { return letGo(waiting, NetworkError(.resolveFailed, reason: "notFound")) }
    origin.name.isGoingOn = true
    doInPieces { [unowned self] in
      origin.name.isGoingOn = letGo(at: origin)
      return origin.name.isGoingOn
    }
  }

  /// A piece of those that have waited; false when they were the last, or are to ask for addresses that are not too old.
  private func letGo(at origin: Origin) -> Bool {
    origin.name.letsGo = true
    defer { origin.name.letsGo = false }
    guard origin.name.isKnown(MonotonicClock.now) else {
      if let waiting = origin.name.waiting { letGo(waiting) }
      return false
    }
    for _ in 0..<Self.bulkPiece { origin.name.waiting?.popFirst()?.goOn() }
    return origin.name.waiting != nil
  }

  /// Ends the wait of an operation; a name that nobody waits for is not asked for.
  func leaveName(_ operation: NetworkOperation, _ wait: Wait) {
    operation.makeHistory().didWaitForName(MonotonicClock.now - wait.since)
    guard let origin = operation.loop.origin, origin.name.waiting?.isEmpty ?? true else { return }
    origin.name.waiting = nil
    if origin.name.addresses.isEmpty { origin.name.endLookups() }
  }
}

// MARK: Addresses that do not answer

extension Scheduler {
  /// An address that has not answered after so long gives way to the next (RFC 8305 section 5: 250 ms between attempts).
  /// Looked at twenty times a second, so within 300 ms. libcurl itself waits for half of the limit for connecting.
  private static let failoverTime: Microseconds = 250_000
  /// With addresses of both families libcurl tries the first of the other one after 200 ms beside it, which has its time.
  private static let otherFamilyTime: Microseconds = 200_000

  /// Has those that connect to an address that does not answer try the next, and so do all who come after.
  func failOver(now: Microseconds) {
    for transfer in running {
      guard let time = transfer.dialTime(now: now), time >= Self.failoverTime,
        let operation = transfer.exchange.owner as? NetworkOperation, let origin = operation.loop.origin,
        origin.name.addresses.count > 1, operation.engine.handleSettings.needsAddresses(of: origin),
        operation.loop.history?.failover.count ?? 0 < origin.name.addresses.count - 1
      else { continue }
      if origin.name.hasBothFamilies, time < Self.failoverTime + Self.otherFamilyTime { continue }
      // Others may have found out the same already.
      if transfer.exchange.addressesVersion == origin.name.version { origin.name.putFirstLast() }
      let history = operation.makeHistory()
      history.failover.count += 1
      history.failover.spent += now - transfer.exchange.startedAt
      connectAgain(operation, transfer, origin)
    }
  }
}

extension OriginName {
  fileprivate var hasBothFamilies: Bool {
    addresses.contains { $0.hasPrefix("[") } && addresses.contains { !$0.hasPrefix("[") }
  }

  fileprivate mutating func putFirstLast() {
    addresses.append(addresses.removeFirst())
    version += 1
  }
}

extension HandleSettings {
  /// Whether nobody else knows where the origin's name leads: no proxy, and no word of the caller's.
  func needsAddresses(of origin: Origin) -> Bool {
    guard proxy(isSecure: origin.isSecure) == nil else { return false }
    if way.isDirect { return true }
    return way.unixSocket == nil && way.addresses(of: origin.name.host ?? "", port: origin.name.port) == nil
  }
}
