/// What the fields of a request say together: framing, connection, expectation.
struct FieldRules {
  private let isHTTP10: Bool
  private var hostCount = 0
  private var length: Int?
  private var isChunked = false
  private var closes = false
  private var keeps = false
  private(set) var expectsContinue = false

  init(isHTTP10: Bool) { self.isHTTP10 = isHTTP10 }

  var keepsAlive: Bool { isHTTP10 ? keeps && !closes : !closes }

  mutating func see(name: ArraySlice<UInt8>, value: ArraySlice<UInt8>) throws(RequestFault) {
    switch name.count {
    case 4 where equalsWithoutCase(name, "host".utf8): hostCount += 1
    case 6 where equalsWithoutCase(name, "expect".utf8):
      expectsContinue = equalsWithoutCase(value, "100-continue".utf8)
    case 10 where equalsWithoutCase(name, "connection".utf8): seeConnection(value)
    case 14 where equalsWithoutCase(name, "content-length".utf8): try seeLength(value)
    case 17 where equalsWithoutCase(name, "transfer-encoding".utf8): try seeCoding(value)
    default: break
    }
  }

  /// RFC 9112 section 6.3, without its leniency.
  func framing() throws(RequestFault) -> RequestFraming {
    guard isHTTP10 || hostCount == 1 else { throw RequestFault("\(hostCount) Host fields") }
    if isChunked, length != nil { throw RequestFault("Content-Length and Transfer-Encoding") }
    if isChunked, isHTTP10 { throw RequestFault("Transfer-Encoding in HTTP/1.0") }
    if isChunked { return .chunked }
    return length.map { $0 == 0 ? .none : .length($0) } ?? .none
  }

  private mutating func seeConnection(_ value: ArraySlice<UInt8>) {
    for option in value.split(separator: 0x2c) {
      let trimmed = option.drop { $0 == 0x20 }
      if equalsWithoutCase(trimmed, "close".utf8) { closes = true }
      if equalsWithoutCase(trimmed, "keep-alive".utf8) { keeps = true }
    }
  }

  private mutating func seeLength(_ value: ArraySlice<UInt8>) throws(RequestFault) {
    guard length == nil else { throw RequestFault("two Content-Length fields") }
    guard !value.isEmpty, value.count <= 18, value.allSatisfy({ $0 &- 0x30 < 10 }) else {
      throw RequestFault("Content-Length is not a number of at most 18 digits")
    }
    length = value.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  private mutating func seeCoding(_ value: ArraySlice<UInt8>) throws(RequestFault) {
    guard !isChunked, equalsWithoutCase(value, "chunked".utf8) else {
      throw RequestFault("a transfer coding other than one chunked", status: 501)
    }
    isChunked = true
  }
}
