extension NetworkCredentials {
  /// As curl's own words. What a provider would give is not known, and a field of the request wins.
  func add(to command: inout CurlCommand) {
    command.certificate = certificate
    guard !command.headers.contains("Authorization") else { return }
    switch scheme {
    case .basic(let user, let password, _):
      command.credential = .basic(user: user, password: password.revealed)
    case .password(let user, let password):
      command.credential = .basic(user: user, password: password.revealed)
      command.options.append("--anyauth")
    case .digest(let user, let password):
      command.credential = .digest(user: user, password: password.revealed)
    case .ntlm(let user, let password): command.credential = .ntlm(user: user, password: password.revealed)
    case .bearer(let token): command.credential = .bearer(token.revealed)
    case .fields(let fields):
      for field in fields where !command.headers.contains(field.name) {
        command.secretHeaders.append(name: field.name, value: field.value)
      }
    case .provider, nil: break
    }
  }
}
