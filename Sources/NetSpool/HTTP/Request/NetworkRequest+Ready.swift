extension NetworkRequest {
  /// Makes the request what will be sent: parameters in their place, the body encoded, every field checked.
  /// On the thread that enqueues; runs the author's encoder and takes fingerprints of files.
  ///
  /// Throws `invalidRequest`, `invalidURL`, `invalidConfiguration`, `uploadSourceFailed`.
  mutating func makeReady() throws(NetworkError) {
    try checkFields()
    guard hasExtras else { return }
    if let option = extra.timeouts.firstInvalid { throw NetworkError(.invalidConfiguration, reason: option) }
    try extra.credentials?.check()
    try placeParameters()
    // Of a request that was sent before.
    if extra.isCompressed {
      headers.remove("Content-Encoding")
      extra.isCompressed = false
    }
    extra.prepared = try extra.body.prepared(with: extra.parameters)
    // libcurl would wait for the body that the answer's length announces.
    if method == .head, extra.prepared.length != 0 { throw NetworkError(.invalidRequest, cause: .body) }
    if case .multipart(let multipart) = extra.body, let named = headers.first("Content-Type") {
      headers.set("Content-Type", multipart.contentType(named: named))
    } else if let type = extra.body.contentType, !headers.contains("Content-Type") {
      try HeaderRules.check(name: "Content-Type", value: type)
      headers.append(name: "Content-Type", value: type)
    }
    if let key = extra.idempotencyKey, !headers.contains("Idempotency-Key") {
      try HeaderRules.check(name: "Idempotency-Key", value: key)
      headers.append(name: "Idempotency-Key", value: "\"\(key)\"")
    }
  }

  func checkFields() throws(NetworkError) {
    try HeaderRules.check(method)
    if headers.count > 0 { try HeaderRules.check(sent: headers) }
  }

  /// A body with an encoder of its own takes them as they are.
  private mutating func placeParameters() throws(NetworkError) {
    let parameters = extra.parameters
    guard !parameters.isEmpty else { return }
    if method.putsParametersInQuery {
      url = try URLText.appending(parameters.pairs, to: url)
    } else if case .custom = extra.body {
      return
    } else {
      try placeInBody(parameters)
    }
    extra.parameters = Parameters([])
  }

  private mutating func placeInBody(_ parameters: Parameters) throws(NetworkError) {
    switch extra.body {
    case .none:
      extra.body =
        extra.parameterEncoding == .json ? .json(FlatJSON.encode(parameters.pairs)) : .form(parameters)
    case .form(let own): extra.body = .form(Parameters(pairs: own.pairs + parameters.pairs))
    case .multipart(var multipart):
      // S3, and others, ignore every field behind a file.
      multipart.insertFields(parameters.pairs)
      extra.body = .multipart(multipart)
    case .bytes, .json, .file, .stream, .custom:
      url = try URLText.appending(parameters.pairs, to: url)
    }
  }

  /// The request as a command for a shell. The engine's own fields are added by the caller.
  func curlCommand(
    revealingSecrets: Bool, defaults: Headers, engine: NetworkCredentials?, redaction: Redaction = .standard
  ) -> String {
    var shown = self
    if hasExtras, extra.isCompressed { shown.headers.remove("Content-Encoding") }
    do throws(NetworkError) {
      try shown.makeReady()
    } catch {
      return "# not sendable: \(error)"
    }
    var command = CurlCommand(method: shown.method, url: (try? URLText.absolute(shown.url)) ?? shown.url)
    for field in defaults where !shown.headers.contains(field.name) {
      command.headers.append(name: field.name, value: field.value)
    }
    for field in shown.headers { command.headers.append(name: field.name, value: field.value) }
    (credentials?.over(engine) ?? engine)?.add(to: &command)
    command.redaction = redaction
    command.parameters = shown.parameters
    command.body = shown.body
    return command.text(revealingSecrets: revealingSecrets)
  }
}
