import NetSpool

/// How an operation ended.
typealias Ending = Result<NetworkResponse, NetworkError>

extension NetworkOperation {
  /// Waits for the final event. A second one would resume the continuation twice, which traps.
  func end() async -> Ending {
    await withCheckedContinuation { continuation in
      onCompletion { continuation.resume(returning: .success($0)) }
      onError { continuation.resume(returning: .failure($0)) }
    }
  }
}

extension Result where Failure == NetworkError {
  var error: NetworkError? {
    if case .failure(let error) = self { error } else { nil }
  }

  var code: NetworkError.Code? { error?.code }
}

extension Result where Success == NetworkResponse, Failure == NetworkError {
  var reason: String? { error?.reason }
  var response: NetworkResponse? { try? get() }
  var text: String? { response?.text }
}
