/// What a request may carry, judged before it is queued or frozen: libcurl sends header values and
/// methods as they are, so a line end in one of them would be a second request.
///
/// All throw `invalidRequest` with the reason `method`, `headerName` or `headerValue`; the offending text
/// is not repeated, it may be a secret.
enum HeaderRules {
  /// A token, and not CONNECT, which would turn the connection into a tunnel (RFC 9110 section 9.3.6).
  static func check(_ method: Method) throws(NetworkError) {
    guard method == .get || isToken(method.name) && method.name != "CONNECT" else { throw invalid("method") }
  }

  /// The name a token, the value without CR, LF and NUL (RFC 9110 sections 5.1 and 5.5).
  static func check(name: some StringProtocol, value: some StringProtocol) throws(NetworkError) {
    guard isToken(name) else { throw NetworkError(.invalidRequest, cause: .headerName) }
    guard !value.utf8.contains(where: { $0 == 0x0D || $0 == 0x0A || $0 == 0 }) else {
      throw invalid("headerValue")
    }
  }

  /// Fields that were appended unchecked: a line end inside a name or value shows as a line too many, or
  /// as one that does not end in CR LF.
  static func check(_ fields: Headers) throws(NetworkError) {
    let bytes = fields.block.span
    var start = 0
    var lines = 0
    while let end = bytes.firstIndex(of: 0x0A, from: start) {
      try checkLine(bytes, start..<end)
      start = end + 1
      lines += 1
    }
    guard lines == fields.count, start == bytes.count else { throw invalid("headerValue") }
  }

  /// The same for fields that go to an origin. Those that say where a message ends are libcurl's alone: two opinions
  /// make two messages.
  static func check(sent fields: Headers) throws(NetworkError) {
    try check(fields)
    for name in ["Content-Length", "Transfer-Encoding"] where fields.contains(name) {
      throw NetworkError(.invalidRequest, cause: .headerName)
    }
  }

  private static func checkLine(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(NetworkError) {
    guard !line.isEmpty, bytes[line.upperBound - 1] == 0x0D else { throw invalid("headerValue") }
    var index = line.lowerBound
    while index < line.upperBound, bytes[index].isTokenByte { index += 1 }
    guard index > line.lowerBound, index + 1 < line.upperBound, bytes[index] == 0x3A,
      bytes[index + 1] == 0x20
    else { throw NetworkError(.invalidRequest, cause: .headerName) }
    guard bytes.firstForbidden(in: index..<(line.upperBound - 1)) == nil else { throw invalid("headerValue") }
  }

  private static func isToken(_ text: some StringProtocol) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy(\.isTokenByte)
  }

  private static func invalid(_ reason: String) -> NetworkError {
    NetworkError(.invalidRequest, reason: reason)
  }
}
