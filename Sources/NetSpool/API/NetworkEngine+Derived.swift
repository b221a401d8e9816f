internal import Synchronization

/// For the package's other products: what is made of answers, and kept beside them.
extension NetworkEngine {
  /// The derived data of the answer to an operation that has not been enqueued, from the cache; nil when there is none that
  /// still holds, or something keeps the operation from an answer. Any thread, but not a loop's own, which waits for no disk.
  package func derived(_ name: String, of operation: NetworkOperation) -> NetworkResponse? {
    let request = operation.request
    guard let cache, !isClosed, configuration.prepare == nil, configuration.validate == nil,
      !SystemThread.isOurs, operation.shared.withLock({ $0.mayEndAtOnce }),
      let question = cache.question(about: request)
    else { return nil }
    guard var held = cache.derived(name, for: question) else { return nil }
    let response = held.takeResponse(
      from: .cache, url: request.url, now: cache.now, withBody: true, lifetime: question.request.lifetime)
    cache.didServe(response.body.count)
    return response
  }

  /// The derived data of this answer's body; its source and its times are the answer's own.
  /// - Parameter request: as it was sent, which `prepare` has seen.
  package func derived(_ name: String, of response: NetworkResponse, toSent request: NetworkRequest)
    -> NetworkResponse?
  {
    guard let cache, let question = cache.question(about: request),
      var held = cache.derived(name, of: response.body, for: question)
    else { return nil }
    var found = held.takeResponse(
      from: response.source, url: response.finalURL, now: cache.now, withBody: true,
      lifetime: question.request.lifetime)
    found.metrics = response.metrics
    return found
  }

  /// Keeps what was made of an answer. Nothing is kept of one that is not in the cache.
  package func keep(
    derived name: String, _ bytes: [UInt8], type: String, of response: NetworkResponse,
    toSent request: NetworkRequest
  ) {
    guard let cache, let question = cache.question(about: request) else { return }
    cache.keep(derived: name, bytes, type: type, of: response.body, for: question)
  }

  /// Runs a closure on the delivery target.
  package func deliver(_ body: @escaping @Sendable () -> Void) { deliverLate(body) }

  /// Reports the end of an operation that was not sent, as its derived data were there. The delivery target.
  package func didAnswer(_ operation: NetworkOperation, with response: NetworkResponse) {
    guard observesEnds else { return }
    var response = response
    response.head.headers.remove(EngineCache.sourceField)
    operation.observe(.success(response))
  }
}

extension NetworkResponse {
  /// Of what was made of an answer and comes from the cache: the bytes of that answer.
  package var derivedFromBytes: Int? {
    headers.first(EngineCache.sourceField).flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
  }
}

extension NetworkError {
  /// The body of an answer has another SHA-256 than these digits say; nil when all is well. Reads all of it.
  package static func mismatch(_ response: NetworkResponse, sha256 expected: String) -> NetworkError? {
    var digest = SHA256()
    digest.update(response.body.bytes)
    let found = Hexadecimal.text(digest.finish())
    if found == expected.lowercased() { return nil }
    let reason = "the SHA-256 is \(found) instead of \(expected)"
    return NetworkError(.digestMismatch, reason: reason, sendState: .answered).about(response)
  }

  /// A picture that came, and that nothing can or may be made of.
  package static func rejected(_ cause: Cause?, _ response: NetworkResponse?, _ code: Code = .imageRejected)
    -> NetworkError
  {
    NetworkError(code, cause: cause, sendState: .answered).about(response)
  }

  private func about(_ response: NetworkResponse?) -> NetworkError {
    var error = self
    error.response = response
    error.url = response?.finalURL
    return error
  }
}
