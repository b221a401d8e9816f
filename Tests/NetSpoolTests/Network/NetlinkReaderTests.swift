import Testing

@testable import NetSpool
@testable import TestSupport

@Suite struct NetlinkReaderTests {
  private typealias Content = NetlinkMessage.Content

  private func read(_ bytes: [UInt8]) -> [NetlinkMessage] {
    var messages: [NetlinkMessage] = []
    NetlinkReader.read(bytes.rawBytes) { messages.append($0) }
    return messages
  }

  private func content(_ type: UInt16, flags: UInt16 = 0, _ payload: [UInt8]) -> Content? {
    var bytes = NetlinkBytes()
    bytes.message(type, flags: flags, payload)
    return read(bytes.bytes).first?.content
  }

  @Test(arguments: [
    (UInt32(0x1_0043), true, true, false), (0x1003, true, false, false), (0x1002, false, false, false),
    (0x49, true, true, true),
  ])
  func `a link is what its flags say`(_ flags: UInt32, _ isUp: Bool, _ isRunning: Bool, _ isLoopback: Bool) {
    var expected = NetlinkLink(index: 3, name: "wlp2s0")
    (expected.isUp, expected.isRunning, expected.isLoopback) = (isUp, isRunning, isLoopback)
    #expect(content(16, NetlinkBytes.link(3, "wlp2s0", flags: flags)) == .link(expected))
    #expect(content(17, NetlinkBytes.link(3, "wlp2s0", flags: flags)) == .linkGone(index: 3))
  }

  @Test func `a port that leaves a bridge is no link that goes`() {
    #expect(content(17, NetlinkBytes.link(3, "veth1", flags: 0x43, family: 7)) == .other)
  }

  @Test(arguments: [
    (UInt8(0), UInt8(0x80), true),  // universe, permanent
    (200, 0, true),  // site
    (253, 0, false),  // link
    (254, 0, false),  // host
    (0, 0x40, false),  // tentative
    (0, 0x08, false),  // a double was found
  ])
  func `an address counts when others can answer it`(_ scope: UInt8, _ flags: UInt8, _ counts: Bool) {
    let address = NetlinkAddress(prefix: IPPrefix(.ipv4, high: 0x0A01_0203 << 32, length: 24), interface: 2)
    let payload = NetlinkBytes.address(2, [10, 1, 2, 3], flags: flags, scope: scope, index: 2)
    #expect(content(20, payload) == (counts ? .address(address) : .addressGone(address)))
    #expect(content(21, payload) == .addressGone(address))
  }

  @Test func `of a point-to-point link the own end is the address`() {
    let payload = NetlinkBytes.address(2, [10, 0, 0, 2], length: 32, index: 4, local: [10, 0, 0, 1])
    let own = NetlinkAddress(prefix: IPPrefix(.ipv4, high: 0x0A00_0001 << 32, length: 32), interface: 4)
    #expect(content(20, payload) == .address(own))
  }

  @Test func `routes carry destination weight table and interface`() {
    let payload = NetlinkBytes.route(2, [192, 0, 2, 0], length: 24, interface: 5, metric: 100)
    let route = NetlinkRoute(
      destination: IPPrefix(.ipv4, high: 0xC000_0200 << 32, length: 24), interface: 5, metric: 100)
    #expect(content(24, payload) == .route([route], replaces: false))
    #expect(content(24, flags: 0x100, payload) == .route([route], replaces: true))
    #expect(content(25, payload) == .routeGone([route]))
  }

  @Test func `a table beyond 255 stands in an attribute`() {
    let more = NetlinkBytes.attribute(15, NetlinkBytes.native(UInt32(51820)))
    let route = NetlinkRoute(destination: IPPrefix(.ipv6, length: 0), interface: 7, table: 51820)
    #expect(
      content(24, NetlinkBytes.route(10, table: 252, interface: 7, more: more))
        == .route([route], replaces: false))
  }

  @Test func `a route over several hops is one for each`() {
    let payload = NetlinkBytes.route(2, more: NetlinkBytes.hops([3, 9]))
    let routes = [3, 9].map { NetlinkRoute(destination: IPPrefix(.ipv4, length: 0), interface: $0) }
    #expect(content(24, payload) == .route(routes, replaces: false))
  }

  @Test(arguments: [
    NetlinkBytes.route(2, type: 2, interface: 1),  // ours
    NetlinkBytes.route(2, type: 7, interface: 1),  // unreachable
    NetlinkBytes.route(2, table: 255, interface: 1),  // the table of our own addresses
    NetlinkBytes.route(2, flags: 0x200, interface: 1),  // a cached copy
    NetlinkBytes.route(2, [169, 254, 0, 0], length: 16, interface: 1),  // the own link
    NetlinkBytes.route(2, [224, 0, 0, 0], length: 4, interface: 1),  // groups
    NetlinkBytes.route(10, [0xFE, 0x80, 0, 0, 0, 0, 0, 0], length: 64, interface: 1),
    NetlinkBytes.route(10, [0xFF, 0, 0, 0, 0, 0, 0, 0], length: 8, interface: 1),
    NetlinkBytes.route(28, interface: 1),  // MPLS
  ])
  func `routes that lead to no other machine are none`(payload: [UInt8]) {
    #expect(content(24, payload) == .other)
  }

  @Test func `the end and a refusal are told`() {
    #expect(content(3, NetlinkBytes.native(Int32(0))) == .done)
    #expect(content(3, []) == .done)
    #expect(content(2, NetlinkBytes.native(Int32(-16))) == .refused(16))
    #expect(content(2, NetlinkBytes.native(Int32.min)) == .refused(.max))
    #expect(content(2, NetlinkBytes.native(Int32(0))) == .other)
    #expect(content(2, []) == .other)
    #expect(content(4, []) == .overrun)
  }

  @Test func `flags and numbers of the header come along`() {
    var bytes = NetlinkBytes()
    bytes.message(3, flags: 0x12, sequence: 77, [])
    let end = NetlinkMessage(content: .done, sequence: 77, isPart: true, isInterrupted: true)
    #expect(read(bytes.bytes) == [end])
  }

  /// Less than its own head, or more than there is.
  @Test(arguments: [0, 1, 15, 33, UInt32.max])
  func `a message that lies about its length ends the datagram`(length: UInt32) {
    var bytes = NetlinkBytes()
    bytes.message(4, [])
    bytes.message(4, length: length, [])
    bytes.message(4, [])
    #expect(read(bytes.bytes).count == 1)
  }

  @Test(arguments: [0, 3, 200, UInt16.max]) func `an attribute that lies ends its message`(length: UInt16) {
    let payload =
      NetlinkBytes.route(2, interface: 3) + NetlinkBytes.attribute(6, [1, 0, 0, 0], length: length)
      + NetlinkBytes.attribute(4, NetlinkBytes.native(Int32(9)))
    let route = NetlinkRoute(destination: IPPrefix(.ipv4, length: 0), interface: 3)
    #expect(content(24, payload) == .route([route], replaces: false))
  }

  @Test func `every cut of a real datagram is read`() {
    var bytes = NetlinkBytes()
    bytes.message(16, NetlinkBytes.link(1, "eth0", flags: 0x43))
    bytes.message(20, NetlinkBytes.address(2, [10, 0, 0, 1], index: 1))
    bytes.message(24, NetlinkBytes.route(2, interface: 1, more: NetlinkBytes.hops([1, 2])))
    for count in 0...bytes.bytes.count { #expect(read(Array(bytes.bytes[..<count])).count <= 3) }
  }

  @Test(arguments: 0..<(LongRun.isOn ? 20 : 3) as Range<UInt64>)
  func `noise is read without harm`(seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<2_000 {
      var bytes = NetlinkBytes()
      for _ in 0..<3 {
        let payload = (0..<Int(random.next() % 60)).map { _ in
          // Small numbers make lengths that fit.
          random.chance(60) ? UInt8(random.next() % 24) : UInt8(truncatingIfNeeded: random.next())
        }
        bytes.message(UInt16(random.next() % 28), flags: UInt16(random.next() % 512), payload)
      }
      var noise = bytes.bytes
      for _ in 0..<random.next() % 4 {
        noise[Int(random.next() % UInt64(noise.count))] = UInt8(truncatingIfNeeded: random.next())
      }
      var table = RouteTable()
      for message in read(noise) { _ = table.apply(message.content) }
      _ = table.state
    }
  }
}
