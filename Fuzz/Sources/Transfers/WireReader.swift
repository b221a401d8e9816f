@testable import NetSpool

/// Another reading of what an HTTP/1.1 origin sends, from the whole of it: what the engine delivers must be this.
struct WireReader {
  let head: ResponseHead
  /// Nil when its end never came, or is in doubt.
  let body: [UInt8]?

  /// Nil when there is no whole head.
  init?(_ bytes: [UInt8]) {
    var parser = HeaderParser()
    var rest = bytes[...]
    var found: ResponseHead?
    while found == nil, !rest.isEmpty {
      guard let event = try? parser.consume(&rest) else { return nil }
      if case .head(let head) = event { found = head }
    }
    guard let found else { return nil }
    head = found
    switch parser.framing.body(status: found.status, version: found.version, method: .get) {
    case .none: body = []
    case .length(let count): body = rest.count >= Int(count) ? Array(rest.prefix(Int(count))) : nil
    case .chunked: body = Self.unchunked(rest)
    case .stream, .untilClose: body = Array(rest)
    }
  }

  /// RFC 9112 section 7.1; LF alone ends a line, as libcurl has it. Trailers are not looked at.
  private static func unchunked(_ bytes: ArraySlice<UInt8>) -> [UInt8]? {
    var rest = bytes
    var body: [UInt8] = []
    while let end = rest.firstIndex(of: 0x0A) {
      let digits = rest[..<end].prefix { hexValue($0) != nil }
      guard (1...16).contains(digits.count) else { return nil }
      let size = digits.reduce(UInt64(0)) { $0 << 4 | hexValue($1)! }
      rest = rest[(end + 1)...]
      if size == 0 { return body }
      guard size <= UInt64(rest.count) else { return nil }
      body += rest.prefix(Int(size))
      rest = rest.dropFirst(Int(size))
      if rest.first == 0x0D { rest.removeFirst() }
      guard rest.popFirst() == 0x0A else { return nil }
    }
    return nil
  }

  private static func hexValue(_ byte: UInt8) -> UInt64? {
    switch byte {
    case 0x30...0x39: UInt64(byte - 0x30)
    case 0x41...0x46, 0x61...0x66: UInt64((byte | 0x20) - 0x57)
    default: nil
    }
  }
}
