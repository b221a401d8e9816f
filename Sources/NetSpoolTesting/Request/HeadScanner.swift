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

  /// One field; also a trailer field.
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
