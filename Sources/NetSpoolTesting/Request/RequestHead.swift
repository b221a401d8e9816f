/// Request line and header fields, checked strictly: what is let through here is what RFC 9112 allows a
/// client to send, and nothing that two readers could read in two ways.
struct RequestHead: Sendable {
  /// Where a field's name and value lie in `bytes`.
  struct Line: Sendable {
    let name: Range<Int>
    let value: Range<Int>
  }

  /// As received, blank line included. Strings are made of it only when somebody looks.
  let bytes: [UInt8]
  let method: String
  let target: String
  let isHTTP10: Bool
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
    isHTTP10 = line.isHTTP10
    lines = try scanner.fields()
    var rules = FieldRules(isHTTP10: line.isHTTP10)
    for field in lines { try rules.see(name: bytes[field.name], value: bytes[field.value]) }
    framing = try rules.framing()
    keepsAlive = rules.keepsAlive
    expectsContinue = rules.expectsContinue
  }

  /// The target without its query. A target in absolute form is cut down to its path.
  var path: String {
    var rest = target[...]
    if let scheme = rest.range(of: "://"), !rest.hasPrefix("/") {
      rest = rest[scheme.upperBound...]
      rest = rest.firstIndex(of: "/").map { rest[$0...] } ?? "/"
    }
    return String(rest.prefix { $0 != "?" })
  }

  var headers: [HeaderField] {
    lines.map {
      HeaderField(
        String(decoding: bytes[$0.name], as: UTF8.self), String(decoding: bytes[$0.value], as: UTF8.self))
    }
  }
}

extension Substring {
  /// The standard library's search for a substring, without Foundation.
  fileprivate func range(of needle: String) -> Range<Index>? { firstRange(of: needle) }
}

/// Where the request's body ends (RFC 9112 section 6).
enum RequestFraming: Sendable, Equatable {
  case none
  case length(Int)
  case chunked
}
