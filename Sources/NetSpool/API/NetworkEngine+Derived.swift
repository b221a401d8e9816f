/// For the package's other products: what is made of answers, and kept beside them.
extension NetworkEngine {
  /// What was made of the answer to a request, from the cache; nil when there is none that still holds. Any thread.
  /// - Parameter request: with an absolute URL.
  package func derived(_ name: String, of request: NetworkRequest) -> NetworkResponse? {
    guard let cache, configuration.prepare == nil, let question = cache.question(about: request) else {
      return nil
    }
    return answer(name, request, question, cache)
  }

  /// The same for a request as it was sent, which `prepare` has seen.
  package func derived(_ name: String, ofSent request: NetworkRequest) -> NetworkResponse? {
    guard let cache, let question = cache.question(about: request) else { return nil }
    return answer(name, request, question, cache)
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

  private func answer(
    _ name: String, _ request: NetworkRequest, _ question: CacheQuestion, _ cache: EngineCache
  ) -> NetworkResponse? {
    guard var held = cache.derived(name, for: question) else { return nil }
    let response = held.takeResponse(
      from: .cache, url: request.url, now: cache.now, withBody: true, lifetime: question.request.lifetime)
    cache.didServe(response.body.count)
    return response
  }
}

extension NetworkResponse {
  /// Of what was made of an answer and comes from the cache: the bytes of that answer.
  package var derivedFromBytes: Int? {
    headers.first(EngineCache.sourceField).flatMap { $0.split(separator: " ").last }.flatMap { Int($0) }
  }
}

extension NetworkError {
  /// A picture that came, and that nothing can or may be made of.
  package static func rejected(_ reason: String, _ response: NetworkResponse?) -> NetworkError {
    var error = NetworkError(.imageRejected, reason: reason, sendState: .answered)
    error.response = response
    error.url = response?.finalURL
    return error
  }
}
