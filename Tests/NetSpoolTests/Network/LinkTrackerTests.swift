import Testing

@testable import NetSpool
@testable import TestSupport

@Suite struct LinkTrackerTests {
  private static let link = NetlinkMessage.Content.link(NetlinkLink(index: 2, name: "eth0"))
  private static let address = NetlinkMessage.Content.address(
    NetlinkAddress(prefix: IPPrefix(.ipv4, low: 1, length: 24), interface: 2))
  private static let route = NetlinkMessage.Content.route(
    [NetlinkRoute(destination: IPPrefix(.ipv4, length: 0), interface: 2)], replaces: false)

  private var tracker = LinkTracker()

  /// Answers each question with these, and so on to the end.
  private mutating func readOut(_ answers: NetlinkMessage.Content...) {
    var question: LinkTracker.Question? = tracker.read()
    for answer in answers {
      guard let asked = question else { return }
      #expect(tracker.take(NetlinkMessage(content: answer, sequence: asked.sequence, isPart: true)) == nil)
      question = tracker.take(NetlinkMessage(content: .done, sequence: asked.sequence, isPart: true))
    }
  }

  @Test mutating func `it asks for links then addresses then routes and knows then`() {
    #expect(tracker.state == nil)
    readOut(Self.link, Self.address, Self.route)
    #expect(tracker.state == LinkState(families: [.ipv4], interface: "eth0"))
    #expect(!tracker.isReading && !tracker.wantsReading)
  }

  @Test mutating func `changes count also while it reads`() {
    readOut(Self.link, Self.address, Self.route)
    let question = tracker.read()
    // When a route goes while links are read out
    let gone = NetlinkRoute(destination: IPPrefix(.ipv4, length: 0), interface: 2)
    _ = tracker.take(NetlinkMessage(content: .routeGone([gone])))
    #expect(tracker.state == .unrouted)
    // Then another program's change with the same number is no answer
    _ = tracker.take(NetlinkMessage(content: Self.route, sequence: question.sequence))
    #expect(tracker.state?.isRouted == true)
  }

  @Test mutating func `a reading that was disturbed is repeated`() {
    let question = tracker.read()
    _ = tracker.take(
      NetlinkMessage(content: Self.link, sequence: question.sequence, isPart: true, isInterrupted: true))
    #expect(tracker.wantsReading)
  }

  @Test mutating func `after a loss everything is read again and the old counts meanwhile`() {
    readOut(Self.link, Self.address, Self.route)
    tracker.overran()
    #expect(tracker.wantsReading && tracker.state?.isRouted == true)
    readOut(Self.link, Self.address)
    #expect(tracker.isReading && tracker.state?.isRouted == true)
  }

  @Test mutating func `a kernel that refuses leaves everything routed`() {
    let question = tracker.read()
    #expect(tracker.take(NetlinkMessage(content: .refused(1), sequence: question.sequence)) == nil)
    #expect(tracker.state == .assumed && !tracker.wantsReading)
  }

  @Test mutating func `a busy kernel is asked later`() {
    let question = tracker.read()
    _ = tracker.take(NetlinkMessage(content: .refused(16), sequence: question.sequence))
    #expect(tracker.state == nil && tracker.wantsReading && !tracker.isReading)
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  mutating func `whatever happens it comes to know the truth`(seed: UInt64) {
    var kernel = SimulatedKernel(seed: seed)
    var random = SplitMix64(seed: seed &+ 1_000_000)
    kernel.ask(tracker.read())
    for _ in 0..<1_500 {
      if random.chance(30) { kernel.change() }
      if random.chance(80) { step(&kernel, reads: random.chance(20)) }
    }
    // When nothing changes any more and everything is taken
    for _ in 0..<400 { step(&kernel, reads: true) }
    #expect(!tracker.isReading && !tracker.wantsReading, "seed \(seed)")
    #expect(tracker.state == kernel.truth, "seed \(seed)")
  }

  private mutating func step(_ kernel: inout SimulatedKernel, reads: Bool) {
    if let message = kernel.receive() {
      if let question = tracker.take(message) { kernel.ask(question) }
    } else if reads, tracker.wantsReading, !tracker.isReading {
      kernel.ask(tracker.read())
    }
  }
}
