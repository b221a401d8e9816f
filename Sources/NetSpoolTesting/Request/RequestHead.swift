/// Request line and header fields, checked strictly: what is let through here is what RFC 9112 allows a
/// client to send, and nothing that two readers could read in two ways.
struct RequestHead: Sendable {
  /// The places of a field's name and value in `bytes`.
  struct Line: Sendable {
    let name: Range<Int>
    let value: Range<Int>
  }

  /// As received, blank line included. Strings are made of it only when they are asked for.
  let bytes: [UInt8]
  let method: String
  let target: String
  let version: RecordedRequest.Version
  let lines: [Line]
  let framing: RequestFraming
  let keepsAlive: Bool
  let expectsContinue: Bool

  init(_ bytes: [UInt8]) throws(RequestFault) {
    var scanner = HeadScanner(bytes)
    let line = try scanner.requestLine()
    self.bytes = bytes
    method = line.method
    target = line.target
    version = line.isHTTP10 ? .http10 : .http11
    lines = try scanner.fields()
    var rules = FieldRules(isHTTP10: line.isHTTP10)
    for field in lines { try rules.see(name: bytes[field.name], value: bytes[field.value]) }
    framing = try rules.framing()
    keepsAlive = rules.keepsAlive
    expectsContinue = rules.expectsContinue
  }

  /// The head of an HTTP/2 request, which nghttp2 has checked; as bytes, it looks as one of HTTP/1.1 would.
  init(method: String, target: String, fields: [HeaderField], hasBody: Bool) {
    self.method = method
    self.target = target
    version = .http2
    framing = hasBody ? .untilEnd : .length(0)
    keepsAlive = true
    expectsContinue = fields.first("expect").map { equalsWithoutCase($0.utf8, "100-continue".utf8) } ?? false
    var bytes = Array("\(method) \(target) \(version.rawValue)\r\n".utf8)
    lines = fields.map { field in
      let name = bytes.count
      bytes += Array("\(field.name): \(field.value)\r\n".utf8)
      let value = name + field.name.utf8.count + 2
      return Line(name: name..<(value - 2), value: value..<(bytes.count - 2))
    }
    self.bytes = bytes + [0x0d, 0x0a]
  }

  /// The target without its query. A target in absolute form is cut down to its path.
  var path: String {
    var rest = target[...]
    if let scheme = rest.firstRange(of: "://"), !rest.hasPrefix("/") {
      rest = rest[scheme.upperBound...]
      rest = rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
    }
    return String(rest.prefix { $0 != "?" })
  }

  var headers: [HeaderField] { lines.map { HeaderField($0, of: bytes) } }
}

extension HeaderField {
  /// The field that a line of these bytes says.
  init(_ line: RequestHead.Line, of bytes: [UInt8]) {
    name = String(decoding: bytes[line.name], as: UTF8.self)
    value = String(decoding: bytes[line.value], as: UTF8.self)
  }
}

/// The end of the request's body (RFC 9112 section 6).
enum RequestFraming: Sendable, Equatable {
  case length(Int)
  case chunked
  /// The end that HTTP/2 marks.
  case untilEnd
}

/// Walks over the bytes of a head.
struct HeadScanner {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func requestLine() throws(RequestFault) -> (method: String, target: String, isHTTP10: Bool) {
    let line = nextLine()
    let method = line.prefix { isToken($0) }
    guard !method.isEmpty, method.endIndex < line.endIndex, line[method.endIndex] == 0x20 else {
      throw RequestFault("the method is not a token and a space")
    }
    let rest = line[(method.endIndex + 1)...]
    let target = rest.prefix { $0 > 0x20 && $0 != 0x7f }
    guard !target.isEmpty else { throw RequestFault("no request target") }
    let version = rest[target.endIndex...]
    let isHTTP11 = version.elementsEqual(" HTTP/1.1".utf8)
    guard isHTTP11 || version.elementsEqual(" HTTP/1.0".utf8) else {
      throw RequestFault("not a space and HTTP/1.1 behind the target", status: 505)
    }
    return (text(method), text(target), !isHTTP11)
  }

  mutating func fields() throws(RequestFault) -> [RequestHead.Line] {
    var lines: [RequestHead.Line] = []
    lines.reserveCapacity(12)
    while true {
      let line = nextLine()
      if line.isEmpty { return lines }
      lines.append(try field(line))
    }
  }

  /// A field; also a trailer field.
  func field(_ line: ArraySlice<UInt8>) throws(RequestFault) -> RequestHead.Line {
    let name = line.prefix { isToken($0) }
    guard !name.isEmpty, name.endIndex < line.endIndex, line[name.endIndex] == 0x3a else {
      throw RequestFault("a header line is not a token and a colon")
    }
    var value = line[(name.endIndex + 1)...]
    while let first = value.first, first == 0x20 || first == 0x09 { value.removeFirst() }
    while let last = value.last, last == 0x20 || last == 0x09 { value.removeLast() }
    guard value.allSatisfy({ ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }) else {
      throw RequestFault("a control byte in a header value")
    }
    return RequestHead.Line(name: name.indices, value: value.indices)
  }

  /// The line up to its CR LF. That every line has one was checked when the head was cut out.
  private mutating func nextLine() -> ArraySlice<UInt8> {
    var end = position
    while bytes[end] != 0x0a { end += 1 }
    defer { position = end + 1 }
    return bytes[position..<(end - 1)]
  }

  private func text(_ slice: ArraySlice<UInt8>) -> String { String(decoding: slice, as: UTF8.self) }
}

/// `tchar` (RFC 9110 section 5.6.2), one bit for each ASCII byte.
func isToken(_ byte: UInt8) -> Bool {
  guard byte < 0x80 else { return false }
  let bits: UInt64 = byte < 64 ? 0x03ff_6cfa_0000_0000 : 0x57ff_ffff_c7ff_fffe
  return (bits >> UInt64(byte & 63)) & 1 == 1
}

/// The meaning of a request's fields together: framing, connection, expectation.
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
    return isChunked ? .chunked : .length(length ?? 0)
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
