@testable import NetSpool
@testable import TestSupport

/// A kernel's tables, its messages about them, and its bad habits: it flushes the routes of a link that is switched
/// off without a word, answers questions in pieces while things change, and loses messages when nobody reads.
struct SimulatedKernel {
  private(set) var links: [Int32: NetlinkLink] = [:]
  private var addresses: Set<NetlinkAddress> = []
  private var routes: Set<NetlinkRoute> = []
  private var random: SplitMix64
  /// On their way to the reader.
  private var queue: [NetlinkMessage] = []
  private var hasLost = false
  /// What was asked for and is not answered yet.
  private var answer: [NetlinkMessage] = []
  private static let room = 12

  init(seed: UInt64) {
    random = SplitMix64(seed: seed)
    for index in 1...4 as ClosedRange<Int32> {
      links[index] = NetlinkLink(index: index, name: index == 4 ? "ppp0" : "eth\(index)")
    }
    links[1]?.isLoopback = true
  }

  /// What a reader should come to know.
  var truth: LinkState {
    var table = RouteTable()
    for link in links.values { _ = table.apply(.link(link)) }
    for address in addresses { _ = table.apply(.address(address)) }
    _ = table.apply(.route(Array(routes), replaces: false))
    return table.state
  }

  // MARK: The reader's side

  mutating func ask(_ question: LinkTracker.Question) {
    guard answer.isEmpty else {
      return send(NetlinkMessage(content: .refused(16), sequence: question.sequence))
    }
    answer = pieces(question.kind).map {
      NetlinkMessage(content: $0, sequence: question.sequence, isPart: true)
    }
    answer.append(NetlinkMessage(content: .done, sequence: question.sequence, isPart: true))
  }

  private func pieces(_ kind: LinkTracker.Question.Kind) -> [NetlinkMessage.Content] {
    switch kind {
    case .links: links.values.map { .link($0) }
    case .addresses: addresses.map { .address($0) }
    case .routes: routes.map { .route([$0], replaces: false) }
    }
  }

  /// The next datagram; nil when there is none.
  mutating func receive() -> NetlinkMessage? {
    if hasLost {
      hasLost = false
      return NetlinkMessage(content: .overrun)
    }
    // The kernel goes on with an answer when the reader takes something.
    if !answer.isEmpty, queue.count < Self.room { queue.append(answer.removeFirst()) }
    return queue.isEmpty ? nil : queue.removeFirst()
  }

  private mutating func send(_ message: NetlinkMessage) {
    if queue.count < Self.room { queue.append(message) } else { hasLost = true }
  }

  // MARK: What happens on the machine

  mutating func change() {
    if !answer.isEmpty { for index in answer.indices { answer[index].isInterrupted = true } }
    switch random.next() % 10 {
    case 0, 1: switchLink()
    case 2: carrier()
    case 3, 4: address()
    case 5, 6, 7: addRoute()
    case 8: removeRoute()
    default: plugOrUnplug()
    }
  }

  private mutating func someLink() -> Int32 { Int32(random.next() % 4) + 1 }

  private mutating func switchLink() {
    let index = someLink()
    links[index]?.isUp.toggle()
    guard let link = links[index] else { return }
    if !link.isUp { routes = routes.filter { $0.interface != index } }
    send(NetlinkMessage(content: .link(link)))
  }

  private mutating func carrier() {
    let index = someLink()
    links[index]?.isRunning.toggle()
    guard let link = links[index] else { return }
    send(NetlinkMessage(content: .link(link)))
  }

  private mutating func address() {
    let index = someLink()
    guard links[index] != nil else { return }
    let family: IPFamily = random.chance(50) ? .ipv4 : .ipv6
    let address = NetlinkAddress(prefix: IPPrefix(family, low: UInt64(index), length: 24), interface: index)
    if addresses.remove(address) == nil {
      addresses.insert(address)
      send(NetlinkMessage(content: .address(address)))
    } else {
      // With the last IPv4 address go the routes, and nobody is told.
      if family == .ipv4 { routes = routes.filter { $0.interface != index || $0.family != .ipv4 } }
      send(NetlinkMessage(content: .addressGone(address)))
    }
  }

  private mutating func addRoute() {
    let index = someLink()
    guard links[index]?.isUp == true else { return }
    let family: IPFamily = random.chance(60) ? .ipv4 : .ipv6
    let length = UInt8(random.next() % 3)
    let route = NetlinkRoute(
      destination: IPPrefix(family, high: length == 0 ? 0 : 9 << 56, length: length), interface: index,
      metric: UInt32(random.next() % 3))
    let replaces = random.chance(30)
    if replaces {
      routes = routes.filter {
        $0.destination != route.destination || $0.metric != route.metric || $0.table != route.table
      }
    }
    routes.insert(route)
    send(NetlinkMessage(content: .route([route], replaces: replaces)))
  }

  private mutating func removeRoute() {
    guard let route = routes.randomElement(using: &random) else { return }
    routes.remove(route)
    send(NetlinkMessage(content: .routeGone([route])))
  }

  private mutating func plugOrUnplug() {
    let index = someLink()
    if links.removeValue(forKey: index) != nil {
      routes = routes.filter { $0.interface != index }
      addresses = addresses.filter { $0.interface != index }
      send(NetlinkMessage(content: .linkGone(index: index)))
    } else {
      var link = NetlinkLink(index: index, name: "usb\(index)")
      link.isLoopback = index == 1
      links[index] = link
      send(NetlinkMessage(content: .link(link)))
    }
  }
}
