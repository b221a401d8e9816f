extension NetworkRequest {
  /// The request as a command for a shell. The engine's own fields are added by the caller.
  func curlCommand(
    revealingSecrets: Bool, defaults: Headers, engine: NetworkCredentials?
  ) -> String {
    var shown = self
    do throws(NetworkError) {
      try shown.makeReady()
    } catch {
      return "# not sendable: \(error)"
    }
    var command = CurlCommand(method: shown.method, url: shown.url)
    for field in defaults where !shown.headers.contains(field.name) {
      command.headers.append(name: field.name, value: field.value)
    }
    for field in shown.headers { command.headers.append(name: field.name, value: field.value) }
    (credentials?.over(engine) ?? engine)?.add(to: &command)
    command.parameters = shown.parameters
    command.body = shown.body
    return command.text(revealingSecrets: revealingSecrets)
  }
}
