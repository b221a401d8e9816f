/// An engine's part of an `AnswerScope`, from its settings as they hold: with the authorities of the environment, and
/// addresses as libcurl is given them. Reads the files of authorities; done once, when the engine is made.
extension AnswerScope.Reach {
  init(_ settings: HandleSettings) {
    let lasting = Self.lasting(settings)
    let all = lasting + Self.trust(settings.tls) + Self.network(settings) + Self.rule(settings.egress)
    self.init(text: Self.digest(all), lasting: Self.digest(lasting))
  }

  /// Each fact is a name and its values; what is as by default is none.
  private typealias Fact = [String]

  private static func lasting(_ settings: HandleSettings) -> [Fact] {
    var facts = settings.way.addresses.sorted { $0.key < $1.key }.map { ["resolve", $0.key] + $0.value }
    if !settings.way.detours.isEmpty { facts.append(["connectTo"] + settings.way.detours.map(\.text)) }
    if let path = settings.way.unixSocket { facts.append(["unixSocket", path]) }
    if !settings.tls.verifies { facts.append(["unsafelyTrustsAnyCertificate"]) }
    if settings.egress.isRestricted { facts.append(["egress", settings.egress.isRule ? "rule" : "public"]) }
    return facts
  }

  private static func trust(_ tls: TLSSettings) -> [Fact] {
    var facts: [Fact] = []
    if case .files(let bundle, let folder) = tls.trust {
      facts.append(["authorities", bundle ?? "", folder ?? "", tls.authorities?.digest ?? ""])
    }
    if let pin = tls.pinnedPublicKey { facts.append(["pinnedPublicKey", pin]) }
    if tls.requiresAlternativeName { facts.append(["requiresSubjectAlternativeName"]) }
    return facts
  }

  private static func network(_ settings: HandleSettings) -> [Fact] {
    var facts: [Fact] = []
    if let interfaces = settings.way.interfaces {
      facts.append(["allowedInterfaces"] + interfaces.patterns.sorted())
    }
    for (scheme, proxy) in [("http", settings.plainProxy), ("https", settings.secureProxy)] {
      guard let proxy else { continue }
      let account = proxy.account.map { ["\($0.scheme)", $0.user] } ?? []
      facts.append(["proxy", scheme, proxy.url, proxy.exceptions] + account)
    }
    return facts
  }

  /// A closure is known to this process alone.
  private static func rule(_ egress: NetworkEngine.Egress) -> [Fact] {
    guard let number = egress.ruleNumber else { return [] }
    return [["rule", Hexadecimal.text(ProcessSecret.hash([Array(Hexadecimal.text(number).utf8)]))]]
  }

  private static func digest(_ facts: [Fact]) -> String {
    if facts.isEmpty { return "" }
    var message: [UInt8] = []
    for fact in facts {
      message.append(integer: UInt32(fact.count))
      for text in fact {
        message.append(integer: UInt32(text.utf8.count))
        message += text.utf8
      }
    }
    return Hexadecimal.text(Array(SHA256.of(message).prefix(16)))
  }
}
