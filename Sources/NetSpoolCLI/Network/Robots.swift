import NetSpool
import Synchronization

/// What a robots.txt says to one crawler (RFC 9309). Pure.
struct RobotsRules: Sendable {
  private var rules: [(pattern: [UInt8], allows: Bool)] = []

  /// More is not read (RFC 9309 section 2.5).
  static let bytesMax = 512_000

  /// - Parameter agent: the crawler's name, in small letters; groups for others hold where none is for it.
  init(_ text: [UInt8], agent: String) {
    var (own, all) = ([(pattern: [UInt8], allows: Bool)](), [(pattern: [UInt8], allows: Bool)]())
    var (isOwn, isAll, hasOwn, wasAgent) = (false, false, false, false)
    // Some editors begin a text with a byte order mark.
    let text = text.starts(with: [0xEF, 0xBB, 0xBF]) ? text.dropFirst(3) : text[...]
    for line in text.prefix(Self.bytesMax).split(whereSeparator: { $0 == 0x0A || $0 == 0x0D }) {
      let line = String(decoding: line.prefix { $0 != UInt8(ascii: "#") }, as: UTF8.self)
      guard let colon = line.firstIndex(of: ":") else { continue }
      let (key, value) = (
        line[..<colon].trimmingBlanks.lowercased(), line[line.index(after: colon)...].trimmingBlanks
      )
      switch key {
      case "user-agent":
        // Lines that follow each other begin one group.
        if !wasAgent { (isOwn, isAll) = (false, false) }
        isOwn = isOwn || value.prefix { $0.isLetter || $0 == "_" || $0 == "-" }.lowercased() == agent
        isAll = isAll || value == "*"
        (hasOwn, wasAgent) = (hasOwn || isOwn, true)
      case "allow", "disallow":
        wasAgent = false
        if value.isEmpty { continue }
        if isOwn { own.append((Self.normal(value), key == "allow")) }
        if isAll { all.append((Self.normal(value), key == "allow")) }
      default: continue
      }
    }
    rules = hasOwn ? own : all
  }

  /// The longest rule that fits decides, and one that allows before one that does not.
  func allows(_ pathAndQuery: String) -> Bool {
    let path = Self.withoutDots(Self.normal(pathAndQuery))
    let fitting = rules.filter { Self.fits($0.pattern[...], path[...]) }
    return fitting.max { ($0.pattern.count, $0.allows ? 1 : 0) < ($1.pattern.count, $1.allows ? 1 : 0) }?
      .allows ?? true
  }

  /// Escapes undone, but of what means something in a pattern.
  private static func normal(_ text: String) -> [UInt8] {
    var (output, rest) = ([UInt8](), Array(text.utf8)[...])
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), rest.count >= 2,
        let value = OutputName.percentDecoded([byte] + rest.prefix(2))?.first, !"/*$%".utf8.contains(value)
      {
        output.append(value)
        rest = rest.dropFirst(2)
      } else {
        output.append(byte)
      }
    }
    return output
  }

  /// Dot segments go, as from what is sent (RFC 3986 section 5.2.4).
  private static func withoutDots(_ path: [UInt8]) -> [UInt8] {
    let whole = path.prefix { $0 != UInt8(ascii: "?") }
    let parts = whole.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).dropFirst()
    let (one, two) = (Array(".".utf8)[...], Array("..".utf8)[...])
    var kept: [ArraySlice<UInt8>] = []
    for part in parts where part != one {
      if part == two { _ = kept.popLast() } else { kept.append(part) }
    }
    if parts.last == one || parts.last == two { kept.append([]) }
    return kept.flatMap { [UInt8(ascii: "/")] + $0 } + path.dropFirst(whole.count)
  }

  /// A pattern fits the beginning, and with `$` at its end the whole; `*` is anything. Linear in each star.
  private static func fits(_ pattern: ArraySlice<UInt8>, _ path: ArraySlice<UInt8>) -> Bool {
    let isWhole = pattern.last == UInt8(ascii: "$")
    let pieces = (isWhole ? pattern.dropLast() : pattern).split(
      separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
    guard path.starts(with: pieces[0]) else { return false }
    var rest = path.dropFirst(pieces[0].count)
    for (number, piece) in pieces.enumerated().dropFirst() {
      if isWhole, number == pieces.count - 1 {
        return rest.count >= piece.count && rest.suffix(piece.count) == piece
      }
      while !rest.starts(with: piece) { if rest.popFirst() == nil { return false } }
      rest = rest.dropFirst(piece.count)
    }
    return !isWhole || rest.isEmpty
  }
}

/// `--robots`: asks each origin once what may be fetched of it. Any thread.
final class RobotsGate: Sendable {
  enum Verdict: Sendable { case allowed, refused, unreachable }

  private enum Known {
    /// Asked, and so many wait.
    case asked([(path: String, @Sendable (Verdict) -> Void)])
    /// Nil: the file could not be had, so that all is refused for now.
    case rules(RobotsRules?)
  }

  private let engine: NetworkEngine
  /// For files that are too long to be had in memory.
  private let beginnings: NetworkEngine
  private let agent: String
  private let origins = Mutex<[String: Known]>([:])
  /// More are forgotten, and asked again.
  private static let originsMax = 10_000

  private static let tag = "robots.txt"

  /// - Parameter engine: asks for all else as well.
  init(_ engine: NetworkEngine) throws {
    self.engine = engine
    var configuration = engine.configuration
    configuration.limits.bodyBytesStreamedMax = .max
    beginnings = try NetworkEngine(configuration: configuration)
    let agent = configuration.headers["User-Agent"] ?? "netspool"
    self.agent = agent.prefix { $0.isLetter || $0 == "_" || $0 == "-" }.lowercased()
  }

  /// Ends what is asked: it cannot be had.
  func cancel() {
    engine.cancel(tag: Self.tag)
    beginnings.cancelAll()
  }

  func ask(_ url: String, _ body: @escaping @Sendable (Verdict) -> Void) {
    let (origin, path) = (URLText.origin(url), URLText.pathAndQuery(url))
    let (verdict, isFirst) = origins.withLock { origins -> (Verdict?, Bool) in
      switch origins[origin] {
      case .rules(let rules)?: return (Self.verdict(rules, path), false)
      case .asked(let waiting)?:
        origins[origin] = .asked(waiting + [(path, body)])
        return (nil, false)
      case nil:
        if origins.count >= Self.originsMax {
          origins = origins.filter { if case .asked = $0.value { true } else { false } }
        }
        origins[origin] = .asked([(path, body)])
        return (nil, true)
      }
    }
    if let verdict { return body(verdict) }
    if isFirst { look(origin) }
  }

  /// - Parameter text: takes the beginning of a file that was too long to be had in memory.
  private func look(_ origin: String, into text: MemoryDownloadStream? = nil) {
    let engine = text == nil ? engine : beginnings
    var request = NetworkRequest(url: "\(origin)/robots.txt")
    request.redirects = .standard
    let operation = engine.operation(request)
    operation.tag = Self.tag
    if let text { operation.addDownloadStream(text) }
    operation.onCompletion { [self] response in
      tell(origin, response.status < 300 ? text?.bytes ?? Array(response.body) : [])
    }
    operation.onError { [self] error in
      if text == nil, error.code == .bodyTooLarge {
        return look(origin, into: MemoryDownloadStream(bytesMax: 2 * RobotsRules.bytesMax))
      }
      // A longer one was given up when there was more than is read of it.
      if let text, text.bytes.count >= RobotsRules.bytesMax { return tell(origin, text.bytes) }
      // What is not there forbids nothing; a server that has trouble forbids all (RFC 9309 section 2.3.1).
      let isAbsent = error.response.map { (400..<500).contains($0.status) } ?? false
      tell(origin, isAbsent ? [] : nil)
    }
    engine.enqueue(operation)
  }

  /// - Parameter text: nil when it cannot be had.
  private func tell(_ origin: String, _ text: [UInt8]?) {
    let rules = text.map { RobotsRules($0, agent: agent) }
    let before = origins.withLock { $0.updateValue(.rules(rules), forKey: origin) }
    guard case .asked(let waiting)? = before else { return }
    for (path, body) in waiting { body(Self.verdict(rules, path)) }
  }

  private static func verdict(_ rules: RobotsRules?, _ path: String) -> Verdict {
    guard let rules else { return .unreachable }
    return rules.allows(path) ? .allowed : .refused
  }
}

/// Refuses the body of an answer whose `X-Robots-Tag` says that it is for no machine.
struct RobotsStream: WatchingStream {
  static let field = "X-Robots-Tag"

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    for value in head.headers.values(for: Self.field) {
      let words = value.lowercased().split(whereSeparator: { ", :".contains($0) })
      if let word = words.first(where: { ["noai", "noimageai", "noindex", "none"].contains($0) }) {
        throw Mistake("\(Self.field): \(word)")
      }
    }
  }
}

extension FetchOutcome {
  /// Not fetched, or not kept, because the origin does not want it.
  init(robots reason: String, _ permanence: Permanence = .forGood, after attempts: Int = 0) {
    self.init(.failed(permanence))
    (error, self.reason, self.attempts) = ("robots", reason, attempts)
  }
}
