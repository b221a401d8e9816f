/// Where connections may lead, judged by the address that a name was resolved to.
enum EgressRule: Sendable {
  case any
  case publicOnly
  /// On the loop thread.
  case custom(@Sendable (InternetAddress, _ port: Int) -> Bool)

  var isRestricted: Bool { if case .any = self { false } else { true } }

  func allows(_ address: InternetAddress, port: Int) -> Bool {
    switch self {
    case .any: true
    case .publicOnly: address.isPublic
    case .custom(let allows): allows(address, port)
    }
  }
}
