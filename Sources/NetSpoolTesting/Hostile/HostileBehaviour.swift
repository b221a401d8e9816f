/// A way for an origin to misbehave: its name, what it is, and the request that meets it.
public struct HostileBehaviour: Sendable, CustomStringConvertible {
  /// A group of behaviours.
  public enum Group: String, Sendable, CaseIterable {
    /// Which bytes are the body: `Content-Length`, bodies where none may be.
    case framing
    /// Header lines.
    case headers
    /// Status lines, protocol versions, 1xx.
    case status
    /// The chunked transfer coding.
    case chunks
    /// Time and endings: slow, reset, endless.
    case transport
    /// `Content-Encoding`.
    case coding
    /// `Location`.
    case redirects
    /// Answers to requests with a body, conditions or ranges.
    case requests
  }

  /// The name, also the last part of its path.
  public let name: String
  /// The fault, in one line.
  public let summary: String
  /// The group that it belongs to.
  public private(set) var group = Group.framing
  /// The method that meets it. GET unless the behaviour needs another.
  public internal(set) var method = "GET"
  /// Header fields the request must have for it.
  public internal(set) var requestHeaders: [HeaderField] = []
  /// True when a client must give up by itself, because the answer never ends or goes on for minutes.
  public internal(set) var isEndless = false

  var answer: AnswerClosure
  var headAnswer: (@Sendable (RecordedRequest) -> Answer?)?

  /// The path at which ``ScriptedOrigin/serveHostile()`` puts it.
  public var path: String { "/hostile/\(name)" }
  /// Name and summary.
  public var description: String { "\(name): \(summary)" }

  /// The catalogue says of which group.
  init(_ name: String, _ summary: String, _ answer: @escaping AnswerClosure) {
    self.name = name
    self.summary = summary
    self.answer = answer
  }

  /// Sends these bytes as they are; the connection stays open, as if nothing were wrong.
  static func raw(_ name: String, _ summary: String, _ text: String) -> HostileBehaviour {
    .plain(name, summary, .raw([.text(text)]))
  }

  /// Sends these bytes as they are, and closes the connection.
  static func cut(_ name: String, _ summary: String, _ text: String) -> HostileBehaviour {
    .plain(name, summary, .raw([.text(text), .close]))
  }

  /// Sends this answer.
  static func plain(_ name: String, _ summary: String, _ answer: Answer) -> HostileBehaviour {
    HostileBehaviour(name, summary) { _ in answer }
  }

  func of(_ group: Group) -> HostileBehaviour { changed(self) { $0.group = group } }

  func endless() -> HostileBehaviour { changed(self) { $0.isEndless = true } }

  func asked(_ method: String, _ headers: KeyValuePairs<String, String> = [:]) -> HostileBehaviour {
    changed(self) {
      $0.method = method
      $0.requestHeaders = headers.map { HeaderField($0.key, $0.value) }
    }
  }

  func atHead(_ closure: @escaping @Sendable (RecordedRequest) -> Answer?) -> HostileBehaviour {
    changed(self) { $0.headAnswer = closure }
  }
}
