/// Reads datagrams of the routing socket (netlink(7), rtnetlink(7)). Every length is checked against what is
/// there: a message that lies about its own is dropped together with all behind it, an attribute likewise within
/// its message.
///
/// Numbers are in the byte order of the machine. The constants are the kernel's and the same on all of them.
enum NetlinkReader {
  private enum Kind {
    static let error: UInt16 = 2
    static let done: UInt16 = 3
    static let overrun: UInt16 = 4
    static let newLink: UInt16 = 16
    static let goneLink: UInt16 = 17
    static let newAddress: UInt16 = 20
    static let goneAddress: UInt16 = 21
    static let newRoute: UInt16 = 24
    static let goneRoute: UInt16 = 25
  }

  private enum Flag {
    static let multi: UInt16 = 0x2
    static let interrupted: UInt16 = 0x10
    static let replace: UInt16 = 0x100
  }

  private static let headerBytes = 16

  /// Calls back for every whole message, in order.
  static func read(_ bytes: RawSpan, _ body: (NetlinkMessage) -> Void) {
    var offset = 0
    while bytes.byteCount - offset >= headerBytes {
      let length = Int(bytes.native(at: offset, as: UInt32.self))
      guard length >= headerBytes, length <= bytes.byteCount - offset else { return }
      body(message(bytes.extracting(offset..<offset + length)))
      offset += aligned(length)
    }
  }

  private static func message(_ bytes: RawSpan) -> NetlinkMessage {
    let flags = bytes.native(at: 6, as: UInt16.self)
    let payload = bytes.extracting(headerBytes..<bytes.byteCount)
    let content = content(bytes.native(at: 4, as: UInt16.self), flags, payload) ?? .other
    return NetlinkMessage(
      content: content, sequence: bytes.native(at: 8, as: UInt32.self), isPart: flags & Flag.multi != 0,
      isInterrupted: flags & Flag.interrupted != 0)
  }

  private static func content(_ kind: UInt16, _ flags: UInt16, _ payload: RawSpan) -> NetlinkMessage.Content?
  {
    switch kind {
    case Kind.done, Kind.error: end(payload, isError: kind == Kind.error)
    case Kind.overrun: .overrun
    case Kind.newLink: link(payload).map { .link($0) }
    case Kind.goneLink: link(payload).map { .linkGone(index: $0.index) }
    case Kind.newAddress:
      address(payload).map { $0.isUsable ? .address($0.address) : .addressGone($0.address) }
    case Kind.goneAddress: address(payload).map { .addressGone($0.address) }
    case Kind.newRoute: routes(payload).map { .route($0, replaces: flags & Flag.replace != 0) }
    case Kind.goneRoute: routes(payload).map { .routeGone($0) }
    default: nil
    }
  }

  /// Both carry a negative errno or 0; 0 in an error is an acknowledgement, which is never asked for.
  private static func end(_ payload: RawSpan, isError: Bool) -> NetlinkMessage.Content? {
    guard payload.byteCount >= 4 else { return isError ? nil : .done }
    let code = payload.native(at: 0, as: Int32.self)
    if code < 0 { return .refused(code == .min ? .max : -code) }
    return isError ? nil : .done
  }

  /// `struct ifinfomsg`. Bridges speak of their ports in the same words, under a family of their own: a port
  /// that leaves a bridge is not a link that goes.
  private static func link(_ payload: RawSpan) -> NetlinkLink? {
    guard payload.byteCount >= 16, payload.byte(at: 0) == 0 else { return nil }
    let flags = payload.native(at: 8, as: UInt32.self)
    var link = NetlinkLink(index: payload.native(at: 4, as: Int32.self), name: "")
    link.isUp = flags & 0x1 != 0
    link.isLoopback = flags & 0x8 != 0
    link.isRunning = flags & 0x40 != 0
    payload.forEachAttribute(from: 16) { type, value in
      if type == 3 { link.name = text(value) }
    }
    return link
  }

  /// `struct ifaddrmsg`. An address that still looks for its double, or has found one, answers to no host, and
  /// one of the link or the host not to others.
  private static func address(_ payload: RawSpan) -> (address: NetlinkAddress, isUsable: Bool)? {
    guard payload.byteCount >= 8, let family = IPFamily(rawValue: payload.byte(at: 0)) else { return nil }
    let length = payload.byte(at: 1)
    var prefix = IPPrefix(family, length: length)
    var hasLocal = false
    var flags = UInt32(payload.byte(at: 2))
    payload.forEachAttribute(from: 8) { type, value in
      switch type {
      case 1 where !hasLocal: prefix = IPPrefix(family, value, length: length)
      case 2:
        hasLocal = true
        prefix = IPPrefix(family, value, length: length)
      case 8 where value.byteCount >= 4: flags = value.native(at: 0, as: UInt32.self)
      default: break
      }
    }
    let interface = Int32(bitPattern: payload.native(at: 4, as: UInt32.self))
    let isUsable = payload.byte(at: 3) < 253 && flags & (0x40 | 0x08) == 0
    return (NetlinkAddress(prefix: prefix, interface: interface), isUsable)
  }

  private static func text(_ value: RawSpan) -> String {
    String(decoding: Array(value.extracting(first: 64)).prefix { $0 != 0 }, as: UTF8.self)
  }

  /// `struct rtmsg`. Of the routes only those that lead to others: unicast, not of the table of our own
  /// addresses, not copies made for one destination, not to the own link alone.
  private static func routes(_ payload: RawSpan) -> [NetlinkRoute]? {
    guard payload.byteCount >= 12, let family = IPFamily(rawValue: payload.byte(at: 0)) else { return nil }
    guard payload.byte(at: 7) == 1, payload.native(at: 8, as: UInt32.self) & 0x200 == 0 else { return nil }
    let length = payload.byte(at: 1)
    var route = NetlinkRoute(destination: IPPrefix(family, length: length), interface: 0)
    route.table = UInt32(payload.byte(at: 4))
    var interfaces: [Int32] = []
    payload.forEachAttribute(from: 12) { type, value in
      switch type {
      case 1: route.destination = IPPrefix(family, value, length: length)
      case 4 where value.byteCount >= 4: interfaces.append(value.native(at: 0, as: Int32.self))
      case 6 where value.byteCount >= 4: route.metric = value.native(at: 0, as: UInt32.self)
      case 9: interfaces += nextHops(value)
      case 15 where value.byteCount >= 4: route.table = value.native(at: 0, as: UInt32.self)
      default: break
      }
    }
    guard route.table != 255, !route.destination.staysOnLink else { return nil }
    return interfaces.map { interface in
      var way = route
      way.interface = interface
      return way
    }
  }

  /// An array of `struct rtnexthop`, each as long as it says.
  private static func nextHops(_ value: RawSpan) -> [Int32] {
    var interfaces: [Int32] = []
    var offset = 0
    while value.byteCount - offset >= 8 {
      let length = Int(value.native(at: offset, as: UInt16.self))
      guard length >= 8, length <= value.byteCount - offset else { break }
      interfaces.append(value.native(at: offset + 4, as: Int32.self))
      offset += aligned(length)
    }
    return interfaces
  }

  static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }
}

extension RawSpan {
  /// A number in the machine's byte order. Traps past the end.
  fileprivate func native<Number: FixedWidthInteger & BitwiseCopyable>(
    at offset: Int, as type: Number.Type
  ) -> Number {
    integer(at: offset, as: type).littleEndian
  }

  /// `struct rtattr`, one behind the other; the two highest bits of a type are flags.
  fileprivate func forEachAttribute(from start: Int, _ body: (UInt16, RawSpan) -> Void) {
    var offset = start
    while byteCount - offset >= 4 {
      let length = Int(native(at: offset, as: UInt16.self))
      guard length >= 4, length <= byteCount - offset else { return }
      body(native(at: offset + 2, as: UInt16.self) & 0x3FFF, extracting(offset + 4..<offset + length))
      offset += NetlinkReader.aligned(length)
    }
  }
}
