/// What is remembered of an answer besides its body. Only answers to GET are stored.
///
/// Made by ``StoreDecision``; changed only by a 304 or a HEAD answer.
struct StoredResponse: Sendable, Hashable {
  var version: ResponseHead.Version
  var status: Int
  /// As they may be served, but for Age, which `servedHeaders(at:)` adds.
  var headers: Headers
  /// When the request was sent, milliseconds since 1970.
  var requestedAt: Int64
  /// When the answer's head came, or that of the last 304; milliseconds since 1970.
  var receivedAt: Int64
  /// Of this exchange; empty when it is the URL that was asked for.
  var finalURL: String
  /// The request fields that Vary names, normalised and without secrets; one that was absent is absent.
  var variant: Headers
  var facts: ResponseFacts
  /// Of the body, by whatever hash the caller uses to tell a changed body from an unchanged one.
  var bodyDigest: UInt64
  /// Length of the stored body.
  var bodyBytes: Int64

  init(
    version: ResponseHead.Version, status: Int, headers: Headers, requestedAt: Int64,
    receivedAt: Int64, facts: ResponseFacts, finalURL: String = "", variant: Headers = Headers(),
    bodyDigest: UInt64 = 0, bodyBytes: Int64 = 0
  ) {
    self.version = version
    self.status = status
    self.headers = headers
    self.requestedAt = requestedAt
    self.receivedAt = receivedAt
    self.facts = facts
    self.finalURL = finalURL
    self.variant = variant
    self.bodyDigest = bodyDigest
    self.bodyBytes = bodyBytes
  }
}

extension StoredResponse {
  /// The fields that make a GET conditional; empty if there is nothing to ask with.
  var conditions: Headers { Validators.conditions(headers) }

  /// The fields to serve it with: with the Age that RFC 9111 section 4 demands.
  func servedHeaders(at now: Int64) -> Headers {
    var copy = self
    return copy.takeServedHeaders(at: now)
  }

  /// The same, leaving none behind.
  mutating func takeServedHeaders(at now: Int64) -> Headers {
    var served = Headers()
    swap(&served, &headers)
    served.append(age: age(at: now))
    return served
  }
}
