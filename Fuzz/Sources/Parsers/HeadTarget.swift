@testable import NetSpool

/// A response head as it comes off the wire, line by line.
enum HeadTarget {
  static func run(_ bytes: [UInt8]) {
    var (parser, rest) = (HeaderParser(), bytes[...])
    while !rest.isEmpty, let event = try? parser.consume(&rest) {
      if case .head(let head) = event { check(head.status, head.headers) }
    }
  }

  private static func check(_ status: Int, _ fields: Headers) {
    require((200...999).contains(status), "a status is a final one: \(status)")
    require(fields.count == fields.reduce(0) { count, _ in count + 1 }, "every field is found")
    checkSendable(fields)
    checkBlock(fields)
  }

  /// What is kept in a store is read back as it was.
  private static func checkBlock(_ fields: Headers) {
    let bytes = fields.block
    guard let again = Headers(storedBlock: bytes.rawBytes, 0..<bytes.count) else {
      broken("a block of fields can be read back")
    }
    require(again.block == bytes && again.count == fields.count, "a block is read back as it was")
  }
}

extension HeaderParser {
  /// Takes the first line of bytes, as libcurl cuts them; one without an end is passed over.
  mutating func consume(_ bytes: inout ArraySlice<UInt8>) throws(NetworkError) -> Event {
    guard let end = bytes.firstIndex(of: 0x0A) else {
      bytes = []
      return .more
    }
    let first = bytes[...end]
    bytes = bytes[(end + 1)...]
    return try line(first.span)
  }
}
