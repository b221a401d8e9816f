internal import CNetSpoolShims
internal import Glibc
internal import Synchronization

/// Looks names up with getaddrinfo(3), on threads of its own and for all queues of the process.
///
/// A lookup cannot be called off once it has begun, and a name server that is silent keeps it for half a minute. So
/// there are few, and no asker gets them all: 4 of 16 for each. One that takes more than 2 s moves over to 16 more, so
/// that names which are found at once need not wait for those that are not. More than 32 threads there never are, and the
/// last 8 are for askers of which no name is being looked up: several that ask for names that hang do not keep others from
/// theirs.
final class NameResolver: Sendable {
  static let shared = NameResolver()

  static let fastMax = 16
  static let slowMax = 16
  static let perAskerMax = 4
  static let reserved = 8
  static let fastTime: Microseconds = 2_000_000
  /// A thread without work ends after so long.
  private static let idleTime: Microseconds = 10_000_000

  /// Addresses as text, IPv6 in brackets, in the system's order of preference (RFC 6724); nil: there is none.
  typealias Found = @Sendable ([String]?, Lookup) -> Void

  /// A question. It may be taken back until it is asked.
  final class Lookup: Sendable {
    let name: String
    fileprivate let asker: UInt64
    fileprivate let counter: BudgetCounter
    fileprivate let wait: BudgetCounter.Wait
    fileprivate let found: Found
    fileprivate let isCancelled = Atomic(false)

    fileprivate init(_ name: String, asker: UInt64, _ counter: BudgetCounter, found: @escaping Found) {
      (self.name, self.asker, self.counter, self.found) = (name, asker, counter, found)
      wait = counter.wait()
    }

    /// It may be answered all the same.
    var isGivenUp: Bool { isCancelled.load(ordering: .relaxed) }

    func cancel() {
      isCancelled.store(true, ordering: .relaxed)
      counter.end(wait, isRefused: true)
    }
  }

  private struct State: InboxWork {
    /// What each asker waits for; askers take turns.
    var waiting: [UInt64: FIFO<Lookup>] = [:]
    var askers = FIFO<UInt64>()
    var running: [ObjectIdentifier: (asker: UInt64, began: Microseconds)] = [:]

    mutating func append(_ lookup: Lookup) {
      if waiting[lookup.asker] == nil { askers.append(lookup.asker) }
      waiting[lookup.asker, default: FIFO()].append(lookup)
    }

    var isWaiting: Bool { !waiting.isEmpty }
  }

  private let inbox = Inbox(State())
  private let addresses: @Sendable (String) -> [String]?

  /// - Parameter addresses: asks for a name's addresses, and blocks for as long as that takes; the system's.
  init(asking addresses: @escaping @Sendable (String) -> [String]? = { systemAddresses(of: $0) }) {
    self.addresses = addresses
  }

  /// Calls back on a thread of the resolver. What the asker has and waits for is counted for it.
  func look(
    up name: String, for asker: UInt64, counting counter: BudgetCounter = BudgetCounter(),
    found: @escaping Found
  ) -> Lookup {
    let lookup = Lookup(name, asker: asker, counter, found: found)
    let isHeard: Void? = inbox.send(by: crew) { $0.append(lookup) }
    // Without a thread it is found with the next one.
    if isHeard == nil { inbox.withLock { $0.append(lookup) } }
    return lookup
  }

  private var crew: InboxCrew {
    InboxCrew(name: "netspool-names", countMax: Self.fastMax + Self.slowMax, isDetached: true) { [self] in
      work()
    }
  }

  /// The life of one thread.
  private func work() {
    while let lookup = inbox.next(step) {
      // Another that may begin too needs another thread.
      _ = inbox.send(by: crew) { _ in }
      lookup.counter.take(after: lookup.wait)
      let addresses = addresses(lookup.name)
      lookup.counter.give()
      _ = inbox.send { $0.running[ObjectIdentifier(lookup)] = nil }
      lookup.found(addresses, lookup)
    }
  }

  private func step(_ state: inout State, _ look: Inbox<State>.Look) -> Inbox<State>.Step<Lookup> {
    let now = MonotonicClock.now
    if let lookup = next(&state, now) {
      state.running[ObjectIdentifier(lookup)] = (lookup.asker, now)
      return .take(lookup)
    }
    if !state.isWaiting { return look.isLate ? .end : .sleep(until: now + Self.idleTime) }
    // A thread has to be there when those under way have become slow ones.
    if look.asleep > 0 { return .end }
    let next = state.running.values.map { $0.began + Self.fastTime }.filter { $0 > now }.min()
    return .sleep(until: next ?? now + Self.fastTime)
  }

  /// The first lookup of the asker whose turn it is.
  private func next(_ state: inout State, _ now: Microseconds) -> Lookup? {
    let total = Self.fastMax + Self.slowMax
    guard state.running.count < total else { return nil }
    let fast = state.running.values.filter { now - $0.began < Self.fastTime }
    let isCrowded = fast.count >= Self.fastMax || state.running.count >= total - Self.reserved
    var passed: [UInt64] = []
    defer { for asker in passed { state.askers.append(asker) } }
    while let asker = state.askers.popFirst() {
      let hasTooMany =
        isCrowded
        ? state.running.values.contains { $0.asker == asker }
        : fast.count(where: { $0.asker == asker }) >= Self.perAskerMax
      guard !hasTooMany else {
        passed.append(asker)
        continue
      }
      let lookup = takeFirst(of: asker, &state)
      if state.waiting[asker] != nil { passed.append(asker) }
      if let lookup { return lookup }
    }
    return nil
  }

  private func takeFirst(of asker: UInt64, _ state: inout State) -> Lookup? {
    var waiting = state.waiting.removeValue(forKey: asker) ?? FIFO()
    while let lookup = waiting.popFirst() {
      guard !lookup.isGivenUp else { continue }
      if !waiting.isEmpty { state.waiting[asker] = waiting }
      return lookup
    }
    return nil
  }
}

extension NameResolver {
  /// True when the system has IPv6 at all: else its addresses are not asked for, which saves half of the
  /// questions.
  private static let hasIPv6: Bool = {
    let descriptor = socket(AF_INET6, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return false }
    close(descriptor)
    return true
  }()

  /// Blocks for as long as the system's resolver takes.
  static func systemAddresses(of name: String) -> [String]? {
    var hints = unsafe addrinfo()
    unsafe hints.ai_family = hasIPv6 ? AF_UNSPEC : AF_INET
    unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var list: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(name, nil, &hints, &list) == 0 else { return nil }
    defer { unsafe freeaddrinfo(list) }
    var addresses: [String] = []
    var entry = unsafe list
    while let current = unsafe entry {
      if let address = unsafe text(of: current.pointee), !addresses.contains(address) {
        addresses.append(address)
      }
      unsafe entry = current.pointee.ai_next
    }
    return addresses.isEmpty ? nil : addresses
  }

  private static func text(of entry: addrinfo) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    let status = unsafe getnameinfo(
      entry.ai_addr, entry.ai_addrlen, &buffer, socklen_t(buffer.count), nil, 0, NI_NUMERICHOST)
    guard status == 0 else { return nil }
    let text = String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    return unsafe entry.ai_family == AF_INET6 ? "[\(text)]" : text
  }
}
