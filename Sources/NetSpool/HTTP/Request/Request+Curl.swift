extension Request {
  /// The request as a command for a shell. The engine's own fields are added by the caller.
  func curlCommand(
    revealingSecrets: Bool, defaults: HeaderFields = HeaderFields(), engine: Credential? = nil
  ) -> String {
    var shown = self
    do throws(Failure) {
      try shown.makeReady()
    } catch {
      return "# not sendable: \(error.sentence)"
    }
    var command = CurlCommand(method: shown.method, url: shown.url)
    for field in defaults where !shown.headers.contains(field.name) {
      command.headers.append(name: field.name, value: field.value)
    }
    for field in shown.headers { command.headers.append(name: field.name, value: field.value) }
    (credential?.over(engine) ?? engine)?.add(to: &command)
    command.body = shown.hasExtras ? shown.extra.body : .none
    return command.text(revealingSecrets: revealingSecrets)
  }
}
