/// What a ``ScriptedOrigin`` answers: a response, how it is sent, and what goes wrong with it.
///
/// A value: make one, change it, give it to as many routes as you like. `Connection: close` and the framing
/// fields are added when they are not among `headers`; nothing else is, not even `Date`.
/// ```swift
/// origin.on("/slow", .text("hello").throttle(10))
/// origin.enqueue(.pattern(1 << 30).resetAfter(1000))
/// ```
public struct Answer: Sendable {
  /// The status code. Default 200. Any number is sent as it is.
  public var status = 200
  /// The reason phrase; nil is the usual one for the status.
  public var reason: String?
  /// The header fields, sent in this order and case.
  public var headers: [HeaderField] = []
  /// The body. Default none. Not sent to HEAD, nor with 1xx, 204 and 304.
  public var body = AnswerBody.none
  /// How the body's end is marked. Default automatic.
  public var framing = AnswerFraming.automatic
  /// Time between the request's last byte and the answer's first. Default zero.
  public var delay = Duration.zero
  /// How fast the answer leaves; nil, the default, is as fast as the client reads.
  public var pace: Pace?
  /// Whether `pace` holds for the body only.
  public var pacesBodyOnly = false
  /// What goes wrong, in any order.
  public var faults: [Fault] = []
  /// Whether the answer is sent without waiting for the request's body. Default false. Only for fixed answers,
  /// and those of ``ScriptedOrigin/onHead(_:_:)``.
  public var isEarly = false
  /// Whether the connection is closed behind the answer. Default false.
  public var closesConnection = false

  /// What is sent instead of all the above.
  var script: [WirePart]?

  /// A response.
  public init(
    status: Int = 200, headers: KeyValuePairs<String, String> = [:], body: AnswerBody = .none
  ) {
    self.status = status
    self.headers = headers.map { HeaderField($0.key, $0.value) }
    self.body = body
  }
}

extension Answer {
  /// 200 with this text, `text/plain; charset=utf-8`.
  public static func text(_ text: String, status: Int = 200) -> Answer {
    Answer(status: status, headers: ["Content-Type": "text/plain; charset=utf-8"], body: .text(text))
  }

  /// 200 with these bytes.
  public static func bytes(_ bytes: [UInt8], type: String = "application/octet-stream") -> Answer {
    Answer(headers: ["Content-Type": type], body: .bytes(bytes))
  }

  /// 200 with `count` bytes of ``BodyPattern``, which are never held in memory.
  public static func pattern(_ count: Int) -> Answer {
    Answer(headers: ["Content-Type": "application/octet-stream"], body: .pattern(count: count))
  }

  /// 200 in chunks, one for each element.
  public static func chunks(_ chunks: [[UInt8]]) -> Answer { Answer(body: .chunks(chunks)) }

  /// This status without a body.
  public static func status(_ status: Int) -> Answer { Answer(status: status) }

  /// A redirect to this `Location`.
  public static func redirect(to location: String, status: Int = 302) -> Answer {
    Answer(status: status, headers: ["Location": location])
  }

  /// 200 with a body that is gzip already.
  public static func gzip(_ bytes: [UInt8]) -> Answer {
    Answer(headers: ["Content-Encoding": "gzip"], body: .bytes(bytes))
  }

  /// These bytes instead of a response, garbage or not; then the connection is closed.
  public static func raw(_ bytes: [UInt8]) -> Answer { .raw([.bytes(bytes)]).closing() }

  /// This text instead of a response, as it stands; then the connection is closed.
  public static func raw(_ text: String) -> Answer { .raw(Array(text.utf8)) }

  /// These steps instead of a response. The connection stays open behind them, unless they close it or the client
  /// said `Connection: close`.
  public static func raw(_ parts: [WirePart]) -> Answer {
    var answer = Answer()
    answer.script = parts
    return answer
  }

  /// No byte, ever; the connection stays open until ``ScriptedOrigin/releaseAll()`` closes it.
  public static var noAnswer: Answer { .raw([.stall, .close]) }

  /// The connection is closed instead of an answer.
  public static var hangUp: Answer { .raw([.close]) }
}
