import NetSpool

/// One rule of a cache, told as a short story: visits to a resource one after the other, and what must come of each.
///
/// In the spirit of the public conformance tests at https://cache-tests.fyi, for a private cache.
struct CacheRow: Sendable {
  /// What is tested.
  let rule: String
  /// Where that is written: an RFC and its section.
  let source: String
  let visits: [Visit]

  init(_ rule: String, _ source: String, _ visits: Visit...) {
    (self.rule, self.source, self.visits) = (rule, source, visits)
  }
}

/// One request of a story.
///
/// Header fields are `Name: value`. In their values `{N}` stands for the HTTP date N seconds from the clock's now,
/// and `{url}` for the origin.
struct Visit: Sendable {
  /// What the client sees.
  enum Outcome: Sendable, Equatable {
    /// The answer of this visit; the origin was asked once.
    case network
    /// A stored answer; the origin was not asked.
    case cache
    /// A stored answer; the origin was asked once and said 304.
    case revalidated
    /// A stored answer although the origin was asked once: it failed, or sent the client there.
    case stale
    /// An error without an answer; the origin was not asked.
    case error(NetworkError.Code)
  }

  var method = "GET"
  /// Behind the path of the story; empty: that path itself.
  var path = ""
  /// Seconds by which the clock moves first.
  var after = 0.0
  var policy: NetSpool.CachePolicy?
  /// Fields of the request.
  var with: [String] = []
  /// What the origin answers, if it is asked.
  var status = 200
  var answer: [String] = []
  var body: String?
  var framing = Framing.length
  /// What must come of it.
  var sees = Outcome.network
  /// Whose body: the number of a visit from 1; nil: this one's, or that of the last network answer to a GET.
  var bodyOf: Int?
  /// Fields that the request must have had, or with a leading `!` must not.
  var sends: [String] = []
  /// Fields that the response must have, or with a leading `!` must not.
  var shows: [String] = []
  var age: Int?
  /// The origin is asked, whatever is seen.
  var isAsked = false
  /// What the response must be, where it is made of a stored one.
  var shown: (status: Int, body: String)?

  enum Framing: Sendable {
    case length, chunks, untilClose, cutOff
    /// The connection ends without a byte.
    case hangUp

    var isWhole: Bool { self != .cutOff && self != .hangUp }
  }
}

extension Visit {
  /// The origin is asked and its answer arrives.
  static func asks(
    _ answer: String..., status: Int = 200, after: Double = 0, with: [String] = [], sends: [String] = [],
    shows: [String] = [], path: String = "", policy: NetSpool.CachePolicy? = nil
  ) -> Visit {
    Visit(
      path: path, after: after, policy: policy, with: with, status: status, answer: answer, sends: sends,
      shows: shows)
  }

  /// The cache answers alone.
  static func hits(
    after: Double = 0, with: [String] = [], shows: [String] = [], age: Int? = nil, bodyOf: Int? = nil,
    path: String = "", policy: NetSpool.CachePolicy? = nil
  ) -> Visit {
    Visit(
      path: path, after: after, policy: policy, with: with, sees: .cache, bodyOf: bodyOf, shows: shows,
      age: age)
  }

  /// The origin says 304, with these fields.
  static func confirms(
    _ answer: String..., after: Double = 0, with: [String] = [], sends: [String] = [], shows: [String] = [],
    age: Int? = nil, bodyOf: Int? = nil, path: String = ""
  ) -> Visit {
    Visit(
      path: path, after: after, with: with, status: 304, answer: answer, sees: .revalidated, bodyOf: bodyOf,
      sends: sends, shows: shows, age: age)
  }

  /// Nothing is held: who stays offline gets nothing.
  static func isMissing(path: String = "", with: [String] = []) -> Visit {
    Visit(path: path, policy: .onlyIfCached, with: with, sees: .error(.notCached))
  }

  /// Something is held, fresh or not.
  static func isHeld(path: String = "", with: [String] = [], bodyOf: Int? = nil) -> Visit {
    Visit(path: path, policy: .onlyIfCached, with: with, sees: .cache, bodyOf: bodyOf)
  }

  /// The same with another method.
  func by(_ method: String) -> Visit {
    var copy = self
    copy.method = method
    return copy
  }
}

// MARK: The stories that are told most often

extension CacheRow {
  /// Stored with these fields, an answer serves for a while without the origin.
  static func fresh(
    _ rule: String, _ source: String, _ fields: String..., status: Int = 200, for seconds: Double = 50
  ) -> CacheRow {
    CacheRow(rule, source, Visit(status: status, answer: fields), .hits(after: seconds, bodyOf: 1))
  }

  /// Stored or not, it does not serve after a while.
  static func stale(
    _ rule: String, _ source: String, _ fields: String..., status: Int = 200, after seconds: Double = 0
  ) -> CacheRow {
    CacheRow(rule, source, Visit(status: status, answer: fields), Visit(after: seconds, status: status))
  }

  /// It is not stored at all.
  static func unstored(
    _ rule: String, _ source: String, _ fields: String..., status: Int = 200, with: [String] = []
  ) -> CacheRow {
    CacheRow(rule, source, Visit(with: with, status: status, answer: fields), .isMissing(with: with))
  }
}
