/// What a proxy says to CONNECT, before it passes bytes on (RFC 9110 section 9.3.6). libcurl answers its challenges and goes on
/// for as long as there are any; this has a limit, and says that it was the proxy's fault.
struct Tunnel: Sendable {
  private var parser: HeaderParser?
  private var refusals = 0

  /// NTLM has two, Digest one, or two where the nonce was old.
  private static let refusalsMax = 3

  /// An answer has begun and is not whole, or not the last.
  var isUnderWay: Bool { parser.map { $0.expectsConnectReply && ($0.hasBegun || refusals > 0) } ?? false }

  /// Takes a line of an answer to CONNECT. Throws `proxyFailed`.
  mutating func line(_ line: RawSpan) throws(NetworkError) {
    var parser = parser ?? HeaderParser()
    if self.parser == nil { parser.expectsConnectReply = true }
    do throws(NetworkError) {
      if case .connectReply(let status) = try parser.line(line), status >= 300 { refusals += 1 }
    } catch { throw NetworkError(.proxyFailed, cause: .response) }
    self.parser = parser
    if refusals > Self.refusalsMax { throw NetworkError(.proxyFailed, cause: .authentication) }
  }
}
