internal import Synchronization

/// What libcurl holds of an engine's cookies, as far as the cache must know: an answer belongs to the cookies that its
/// request was sent with. Written by the loop whenever an answer has set some, read where a request is enqueued.
final class CookieJar: Sendable {
  private struct Cookie: Equatable, Sendable {
    var domain: String
    var includesSubdomains: Bool
    /// Seconds since 1970; 0: with the process.
    var expires: Int64
    var text: String
  }

  /// The number of the engine.
  private let engine: UInt64
  private let cookies = Mutex<[Cookie]>([])
  /// Changes whenever the cookies do.
  private let changes = Atomic(0)

  init(of engine: UInt64) { self.engine = engine }

  var version: Int { changes.load(ordering: .acquiring) }

  /// What is there now, in the lines of a cookie file (curl's CURLINFO_COOKIELIST).
  func replace(_ lines: [String]) {
    let new = lines.compactMap { Self.cookie($0) }
    cookies.withLock { cookies in
      guard cookies != new else { return }
      cookies = new
      changes.add(1, ordering: .releasing)
    }
  }

  /// Domain, whether names below it get it too, path, whether it needs TLS, expiry, name and value, between tabs.
  private static func cookie(_ line: String) -> Cookie? {
    let text = unmarked(line)
    let fields = text.utf8.split(separator: UInt8(ascii: "\t"), omittingEmptySubsequences: false)
    guard fields.count >= 6 else { return nil }
    return Cookie(
      domain: domain(of: text), includesSubdomains: fields[1].elementsEqual("TRUE".utf8),
      expires: Int64(Substring(fields[4])) ?? 0, text: String(text))
  }

  private static func unmarked(_ line: String) -> Substring {
    let mark = "#HttpOnly_"
    return line.hasPrefix(mark) ? line.dropFirst(mark.count) : line[...]
  }

  private static func domain(of text: Substring) -> String {
    let domain = text.prefix { $0 != "\t" }
    return (domain.hasPrefix(".") ? domain.dropFirst() : domain).lowercased()
  }

  /// A domain with more keeps its newest 150, as in Chrome. libcurl keeps all that come, and goes through them for each
  /// request and each cookie.
  static let ofDomainMax = 180
  private static let ofDomainLeft = 150

  /// What is left of the lines of a jar, each domain's oldest first, where an origin has set too many. Nil: none has.
  static func bounded(_ lines: [String]) -> [String]? {
    guard lines.count > ofDomainMax else { return nil }
    let domains = lines.map { domain(of: unmarked($0)) }
    let counts = domains.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    var surplus = counts.filter { $0.value > ofDomainMax }.mapValues { $0 - ofDomainLeft }
    if surplus.isEmpty, lines.count <= CookieFile.cookiesMax { return nil }
    let left = zip(domains, lines).filter { domain, _ in
      guard let more = surplus[domain], more > 0 else { return true }
      surplus[domain] = more - 1
      return false
    }
    return left.suffix(CookieFile.cookiesMax).map(\.1)
  }

  /// The sender with whose jar it is, as an answer is for its engine alone, and with what that has for the host, of any path:
  /// too much keeps answers apart, too little mixes them up. `origin`: `scheme://host[:port]`, canonical.
  func add(to sender: CacheSender, for origin: Span<UInt8>) -> CacheSender {
    let (host, now) = (Self.host(of: origin), WallClock.seconds)
    let texts = cookies.withLock { cookies in
      cookies.filter { cookie in
        let isMeant =
          cookie.domain == host || (cookie.includesSubdomains && host.hasSuffix("." + cookie.domain))
        return isMeant && (cookie.expires == 0 || cookie.expires > now)
      }.map { Array($0.text.utf8) }
    }
    var sender = sender
    // The digest says nothing to who sees it.
    sender.add(
      cookies: ProcessSecret.hash(
        [Array("\(engine)".utf8)] + texts.sorted { $0.lexicographicallyPrecedes($1) }))
    return sender
  }

  private static func host(of origin: Span<UInt8>) -> String {
    let text = String(decoding: origin.indices.map { origin[$0] }, as: UTF8.self)
    let place = text.split(separator: "/").last ?? ""
    if place.hasPrefix("[") { return String(place.dropFirst().prefix { $0 != "]" }) }
    return String(place.prefix { $0 != ":" })
  }
}
