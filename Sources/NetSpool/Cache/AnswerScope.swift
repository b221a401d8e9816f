/// The server that answers, and the sender it answers: an answer, an exchange, a turn to ask or a connection of one scope
/// serves no other.
///
/// It is made in one place, `EngineCache.scope`, and stands in front of every key of the cache; so it is part of what
/// claims, validations, bodies on their way and stored answers are found by. Equal requests share within one engine, and
/// thus within one `Reach`; `ConnectionPools`, challenges of origins and frozen requests go by the `Reach` alone.
///
/// Who answers (`Reach`, of the engine, worked out when it is made):
/// - `tls.caFile`, `tls.caPath`, `SSL_CERT_FILE`, `SSL_CERT_DIR`: path and content. The path says whose word counts, the
///   content what it says: what an authority vouched for that has left its file is not served, nor its connection used.
///   The system's own authorities are one, whatever they are today: an update of them must not empty every cache.
/// - `tls.pinnedPublicKey`, `tls.requiresSubjectAlternativeName`, `tls.unsafelyTrustsAnyCertificate`: who is believed.
/// - `resolve`, `unixSocket`, `allowedInterfaces`, `proxy` (with its exceptions and its user): the way may lead to another
///   server under the same name. The proxy's password is no part of it: it proves the user, and must not be on a disk.
/// - `egress`: the address that answered is not known later. `.publicOnly` is one scope; each rule is one of its own, and
///   is asked besides (`EngineCache.mayUse`), since it may have changed its mind.
///
/// For whom (of the request, with the engine's part): a name (`credentialScope`) stands for all of it, and so does
/// `CacheRules.isShared`; else
/// - the account: `credentials` of the request, else the user in the URL, over those of the engine. It counts beside
///   any field of the request, and with it the client certificate.
/// - fields that are secret or name a person, the engine's too; cookies of its jar.
///
/// Everything else says how something is sent, how long it may take or what becomes of it, and not who answers whom.
struct AnswerScope: Sendable, Hashable {
  /// Names the partition in keys; holds no NUL and no secret.
  let text: String

  /// The engine's part: whom it believes, by which way it goes, and where it may.
  struct Reach: Sendable, Hashable {
    /// A digest of values, the same in every process; empty for an engine that leaves all of them as they are.
    let text: String
    /// The same of what a request must find again that is sent days later. Keys and authorities are replaced, and
    /// machines move from network to network; a request that waits must not be stranded by that.
    let lasting: String

    /// The beginning of the digest, for tables of this process; 0 for an engine that leaves all as it is.
    let number: UInt64

    init(text: String, lasting: String) {
      (self.text, self.lasting) = (text, lasting)
      number = UInt64(text.prefix(16), radix: 16) ?? 0
    }

    static let standard = Reach(text: "", lasting: "")
  }

  /// Requests without credentials.
  static let anonymous = AnswerScope(text: "a")

  /// The partition for all users, under the rules of a shared cache.
  static let shared = AnswerScope(text: "s")

  /// A scope that the caller names, such as one end user.
  static func named(_ name: String) -> AnswerScope { AnswerScope(text: "n" + KeyText.escaped(name)) }

  /// The same within the reach of an engine, in a part of a store of its own. `name` has no `/` and no NUL, and what
  /// follows a reach begins with no digit of one.
  func within(_ reach: Reach, inNamespace name: String) -> AnswerScope {
    AnswerScope(text: reach.text.isEmpty ? "\(name)/\(text)" : "\(name)/\(reach.text)/\(text)")
  }

  /// Makes a scope from what identifies the sender: every field that is secret or names a person, and the account.
  /// Anonymous if there is none of it. Any other field separates answers only through `Vary`.
  ///
  /// The text is a keyed hash under this process's key: such entries end with the process.
  /// `account`: what tells one from another (`NetworkCredentials.id`); nil: none.
  static func derived(
    from headers: Headers, account: UInt64? = nil, meaning: FieldMeaning = .standard
  ) -> AnswerScope {
    var parts: [[UInt8]] = []
    if meaning.hasSecretNames || RequestFieldScan.mayIdentify(headers) {
      appendIdentity(headers, meaning, to: &parts)
    }
    if let account { parts += [Array("\u{0}account".utf8), Array(Hexadecimal.text(account).utf8)] }
    guard !parts.isEmpty else { return .anonymous }
    return AnswerScope(text: "d" + Hexadecimal.text(ProcessSecret.hash(parts)))
  }

  private static func appendIdentity(_ headers: Headers, _ meaning: FieldMeaning, to parts: inout [[UInt8]]) {
    for field in headers where meaning.isSecret(field.name) || meaning.namesPerson(field.name) {
      parts.append(field.nameBytes.map(\.asciiLowercased))
      parts.append(Array(field.valueBytes))
    }
  }
}
