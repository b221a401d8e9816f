internal import Synchronization

/// The addresses to which connections lead, of an origin's name or a proxy's or as the caller says, and the operations that
/// wait for them.
///
/// libcurl would start a thread for each lookup and leave it to itself when it is cancelled. So names are looked up
/// before an operation waits for its slot, and libcurl is given the addresses.
final class OriginName {
  /// What is to be looked up; nil for an address, and for what libcurl answers itself or we do not spell as it does.
  let host: String?
  let port: Int
  /// The caller says what they are, so that nothing is looked up.
  let isGiven: Bool
  fileprivate let failure: NetworkError
  fileprivate(set) var addresses: [String]
  /// Another one with each answer, whatever the name: libcurl is told once.
  fileprivate(set) var version = OriginName.nextVersion()
  fileprivate var foundAt: Microseconds = 0
  /// By the engine that asked: who waits in a long line must not have others wait with it. The first answer is everybody's.
  fileprivate var lookups: [UInt64: NameResolver.Lookup] = [:]
  /// The operations that wait; nil: none does.
  fileprivate var waiting: WaitList?
  /// The addresses are there, and some of them go on in each turn: what comes meanwhile goes behind them.
  fileprivate var isGoingOn = false
  fileprivate var letsGo = false

  private static let lastVersion = Atomic<Int>(0)

  fileprivate static func nextVersion() -> Int { lastVersion.add(1, ordering: .relaxed).newValue }

  /// - Parameters:
  ///   - given: the addresses, where the caller says what they are.
  ///   - failure: how operations end for which there is none.
  init(
    _ origin: URLPieces.Origin, given: [String] = [],
    failure: NetworkError = NetworkError(.resolveFailed, cause: .notFound)
  ) {
    self.failure = failure
    isGiven = !given.isEmpty
    addresses = given
    host = isGiven || origin.isLookedUp ? origin.host : nil
    port = origin.port
  }

  /// How libcurl's list has it (CURLOPT_RESOLVE): an entry that goes after a minute as one of its own, or, given by the
  /// caller, stays.
  func entry(of host: String) -> String {
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    return "\(isGiven ? "" : "+")\(name):\(port):\(addresses.joined(separator: ","))"
  }

  /// A name is asked for again after so long, shortly before libcurl forgets it; until then no operation waits for that.
  fileprivate static let freshTime: Microseconds = 55_000_000
  /// An answer this old is none.
  fileprivate static let staleTime: Microseconds = 300_000_000

  fileprivate func isKnown(_ now: Microseconds) -> Bool {
    !addresses.isEmpty && now - foundAt < Self.staleTime
  }

  fileprivate func endLookups() {
    for lookup in lookups.values { lookup.cancel() }
    lookups = [:]
  }
}

/// The names that connections lead to, and the operations that wait for their addresses, or for the authorities that verify
/// them.
final class Names {
  /// The resolver; a test's in its place.
  var resolver = NameResolver.shared
  /// Of proxies, and of what callers say; see `name(for:at:)`.
  private var others: [String: OriginName] = [:]
  private var reading: [ObjectIdentifier: WaitList] = [:]
  private let context: LoopContext

  init(_ context: LoopContext) { self.context = context }

  /// The wait for what its connection needs, if there is something to wait for.
  func wait(for operation: NetworkOperation, atFront: Bool) -> Wait? {
    addressWait(for: operation, atFront: atFront) ?? authoritiesWait(for: operation, atFront: atFront)
  }

  private func addressWait(for operation: NetworkOperation, atFront: Bool) -> Wait? {
    guard let origin = operation.loop.origin, let name = name(for: operation, at: origin), !name.isGiven,
      let host = name.host, operation.loop.extras?.nameFailure == nil, operation.loop.transfer == nil
    else { return nil }
    let now = MonotonicClock.now
    let isKnown = name.isKnown(now)
    if !isKnown || now - name.foundAt >= OriginName.freshTime {
      lookUp(host, of: name, for: operation.engine)
    }
    if isKnown, !name.isGoingOn || name.letsGo { return nil }
    let (left, failure) = limit(of: operation)
    let waiting = name.waiting ?? WaitList()
    name.waiting = waiting
    return Wait(
      .addresses, in: waiting, then: .route(atFront: false), atMost: left, late: .route(atFront: atFront),
      failing: failure)
  }

  /// Milliseconds, and how the operation ends then.
  private func limit(of operation: NetworkOperation) -> (UInt64, NetworkError) {
    let spent = Double(operation.loop.history?.connecting.spent ?? 0) / 1e6
    let connect = max(0, operation.timeLimits(operation.sent).connect.seconds - spent)
    let left = max(0, operation.secondsLeft(operation.sent, nil))
    let cause = left < connect ? NetworkError.Cause.total : .connect
    return (UInt64(min(left, connect, 1e9) * 1000), NetworkError(.timedOut, cause: cause))
  }

  /// They are read once in the process, on no loop.
  private func authoritiesWait(for operation: NetworkOperation, atFront: Bool) -> Wait? {
    guard let origin = operation.loop.origin, operation.loop.transfer == nil,
      let authorities = origin.isSecure
        ? operation.engine.authorities.ofSecure : operation.engine.authorities.ofPlain,
      !authorities.areReady(now: MonotonicClock.now)
    else { return nil }
    let id = ObjectIdentifier(authorities)
    let waiting = reading[id] ?? WaitList()
    if reading.updateValue(waiting, forKey: id) == nil {
      let (port, me) = (context.port, LoopReference(self))
      authorities.prepare { port.perform(of: QueueDriver.Command.house) { _ in me.object?.didRead(id) } }
    }
    let (left, failure) = limit(of: operation)
    return Wait(
      .authorities, in: waiting, then: .resolve(atFront: atFront), atMost: left, late: .fail(failure))
  }

  private func didRead(_ id: ObjectIdentifier) {
    if let waiting = reading.removeValue(forKey: id) { context.letGo(waiting) }
  }

  private func lookUp(_ host: String, of name: OriginName, for engine: NetworkEngine) {
    guard name.lookups[engine.id] == nil else { return }
    // Until the answer is there libcurl shall have the old one.
    if !name.addresses.isEmpty { name.version = OriginName.nextVersion() }
    let (port, me, reference) = (context.port, LoopReference(self), LoopReference(name))
    name.lookups[engine.id] = resolver.look(
      up: host.hasSuffix(".") ? String(host.dropLast()) : host, for: engine.id,
      counting: engine.counters.names
    ) { addresses, lookup in
      port.perform(of: QueueDriver.Command.house) { _ in
        if let name = reference.object { me.object?.found(addresses, by: lookup, for: name) }
      }
    }
  }

  private func found(_ all: [String]?, by lookup: NameResolver.Lookup, for name: OriginName) {
    // With the name of an interface in one (`fe80::1%eth0`) libcurl refuses all of them.
    let usable = all?.filter { !$0.utf8.contains(UInt8(ascii: "%")) } ?? []
    let addresses = usable.isEmpty ? nil : usable
    // It says nothing to those that have asked again since.
    if addresses == nil, lookup.isGivenUp { return }
    name.endLookups()
    if let addresses {
      name.addresses = addresses
      name.version = OriginName.nextVersion()
      name.foundAt = MonotonicClock.now
    }
    // What an earlier answer lets go goes on.
    guard let waiting = name.waiting, !name.isGoingOn else { return }
    if addresses == nil { return context.letGo(waiting, name.failure) }
    name.isGoingOn = true
    context.doInPieces { [unowned self] in
      name.isGoingOn = letGo(name)
      return name.isGoingOn
    }
  }

  /// A piece of those that have waited; false when they were the last, or are to ask for addresses that are not too old.
  private func letGo(_ name: OriginName) -> Bool {
    name.letsGo = true
    defer { name.letsGo = false }
    guard name.isKnown(MonotonicClock.now) else {
      if let waiting = name.waiting { context.letGo(waiting) }
      return false
    }
    for _ in 0..<Turn.piece { name.waiting?.popFirst()?.goOn() }
    return name.waiting != nil
  }

  /// Ends the wait of an operation; a name that no operation waits for is not asked for.
  func leave(_ operation: NetworkOperation, _ wait: Wait) {
    if let failure = wait.failure { operation.makeExtras().nameFailure = failure }
    let (history, time) = (operation.makeHistory(), MonotonicClock.now - wait.since)
    history.spent += time
    history.connecting.spent += time
    guard case .addresses = wait.reason else { return }
    history.lookupTime += time
    guard let origin = operation.loop.origin, let name = name(for: operation, at: origin),
      name.waiting?.isEmpty ?? true
    else { return }
    name.waiting = nil
    if name.addresses.isEmpty { name.endLookups() }
  }

  /// Its name was not found, and it has waited for its turn since: it is asked for once more.
  func isFailureOld(of operation: NetworkOperation) -> Bool {
    guard operation.loop.extras?.nameFailure != nil, let history = operation.loop.history,
      MonotonicClock.now - history.waitingSince > Self.failureMax
    else { return false }
    operation.loop.extras?.nameFailure = nil
    history.connecting.spent = 0
    return true
  }

  private static let failureMax: Microseconds = .second

  /// The addresses that connections for an operation lead to; nil where there is nothing to look up or to choose from.
  func name(for operation: NetworkOperation, at origin: Origin) -> OriginName? {
    let engine = operation.engine
    let name = engine.goesStraight ? origin.name : otherName(engine.handleSettings, engine.id, origin)
    return name?.host == nil ? nil : name
  }

  private func otherName(_ settings: HandleSettings, _ engine: UInt64, _ origin: Origin) -> OriginName? {
    if let proxy = settings.proxy(for: origin.pieces) {
      return otherName(proxy.url) {
        proxy.pieces.map { OriginName($0, failure: NetworkError(.proxyFailed, cause: .connect)) }
      }
    }
    if settings.way.unixSocket != nil { return nil }
    let goal = settings.way.goal(of: origin.pieces)
    let given = settings.way.addresses(of: goal.host, port: goal.port)
    if given == nil, goal == origin.pieces { return origin.name }
    return otherName("\(engine) \(goal.host):\(goal.port)") { OriginName(goal, given: given ?? []) }
  }

  private func otherName(_ key: String, _ make: () -> OriginName?) -> OriginName? {
    if let name = others[key] { return name }
    if others.count >= Self.othersMax { others = others.filter { $1.waiting != nil } }
    let name = make()
    others[key] = name
    return name
  }

  /// Of proxies, and of what callers say; with more, those that no operation waits for are forgotten.
  private static let othersMax = 1_024

  // MARK: Addresses that do not answer

  /// An address that has not answered after so long gives way to the next (RFC 8305 section 5: 250 ms between attempts).
  /// Looked at twenty times a second, so within 300 ms. libcurl itself waits for half of the limit for connecting.
  private static let failoverTime: Microseconds = 250_000
  /// With addresses of both families libcurl tries the first of the other one after 200 ms beside it, which has its time.
  private static let otherFamilyTime: Microseconds = 200_000

  /// Gives an address up that does not answer, so that this connection and all that come after lead to the next; false while
  /// it has time, and where there is no other.
  func giveUpAddress(
    of transfer: Transfer, _ operation: NetworkOperation, at origin: Origin, now: Microseconds
  ) -> Bool {
    guard let time = transfer.dialTime(now: now), time >= Self.failoverTime,
      let name = name(for: operation, at: origin), name.addresses.count > 1,
      operation.loop.history?.connecting.addresses ?? 0 < name.addresses.count - 1
    else { return false }
    if name.hasBothFamilies, time < Self.failoverTime + Self.otherFamilyTime { return false }
    // Others may have found out the same already.
    if transfer.exchange.addressesVersion == name.version { name.putFirstLast() }
    let history = operation.makeHistory()
    history.connecting.addresses += 1
    history.connecting.spent += now - transfer.exchange.startedAt
    return true
  }
}

extension OriginName {
  fileprivate var hasBothFamilies: Bool {
    addresses.contains { $0.hasPrefix("[") } && addresses.contains { !$0.hasPrefix("[") }
  }

  fileprivate func putFirstLast() {
    addresses.append(addresses.removeFirst())
    version = Self.nextVersion()
  }
}

extension ProxySettings {
  /// Where it listens, as an origin.
  fileprivate var pieces: URLPieces.Origin? {
    guard let mark = url.utf8.firstIndex(of: UInt8(ascii: "/")) else { return nil }
    return try? URLParser.parse("http:" + url[mark...] + "/").pieces.origin
  }
}

extension URLPieces.Origin {
  /// True for a name that is looked up before connections are made.
  var isLookedUp: Bool {
    !hostIsAddress && !isLoopback
      && host.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "%") }
  }
}
