extension Request {
  /// Makes the request what will be sent: parameters in their place, the body encoded, every field checked.
  /// On the thread that enqueues; runs the author's encoder and takes fingerprints of files.
  ///
  /// Throws `invalidRequest`, `invalidURL`, `invalidConfiguration`, `uploadSourceFailed`.
  mutating func makeReady() throws(Failure) {
    try HeaderRules.check(method)
    if headers.count > 0 { try checkHeaders() }
    guard hasExtras else { return }
    if let option = extra.timeouts?.firstInvalid { throw Failure(.invalidConfiguration, reason: option) }
    try extra.credential?.check()
    try placeParameters()
    extra.prepared = try extra.body.prepared()
    if let type = extra.body.contentType, !headers.contains("Content-Type") {
      try HeaderRules.check(name: "Content-Type", value: type)
      headers.append(name: "Content-Type", value: type)
    }
    if let key = extra.idempotencyKey, !headers.contains("Idempotency-Key") {
      try HeaderRules.check(name: "Idempotency-Key", value: key)
      headers.append(name: "Idempotency-Key", value: "\"\(key)\"")
    }
  }

  /// Fields that say where a message ends are libcurl's alone: two opinions make two messages.
  private func checkHeaders() throws(Failure) {
    try HeaderRules.check(headers)
    for name in ["Content-Length", "Transfer-Encoding"] where headers.contains(name) {
      throw Failure(.invalidRequest, reason: "headerName")
    }
  }

  private mutating func placeParameters() throws(Failure) {
    let parameters = extra.parameters
    guard !parameters.isEmpty else { return }
    if method.putsParametersInQuery {
      url = try URLText.appending(parameters, to: url)
    } else {
      try placeInBody(parameters)
    }
    extra.parameters = []
  }

  private mutating func placeInBody(_ parameters: [Parameter]) throws(Failure) {
    switch extra.body {
    case .none:
      extra.body = extra.sendsParametersAsJSON ? .json(FlatJSON.encode(parameters)) : .form(parameters)
    case .form(let own): extra.body = .form(own + parameters)
    case .custom(let type, _, let encode):
      extra.body = .custom(contentType: type, parameters: parameters, encode: encode)
    case .multipart(var multipart):
      for parameter in parameters { multipart.addData(Array(parameter.value.utf8), forKey: parameter.name) }
      extra.body = .multipart(multipart)
    case .bytes, .json, .file, .stream:
      url = try URLText.appending(parameters, to: url)
    }
  }
}
