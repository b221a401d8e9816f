/// A proxy, and who we are to it.
package struct ProxySettings: Sendable, Hashable {
  package enum Scheme: Sendable, Hashable { case basic, digest, ntlm }

  package struct Account: Sendable, Hashable {
    package var scheme: Scheme
    package var user: String
    package var password: Secret

    package init(scheme: Scheme, user: String, password: Secret) {
      self.scheme = scheme
      self.user = user
      self.password = password
    }
  }

  /// `scheme://host:port`, without user name and password.
  package var url: String
  package var account: Account?
  /// Hosts that are asked directly, in the form of CURLOPT_NOPROXY.
  package var exceptions = ""

  package init(url: String) { self.url = url }

  /// It asks for an answer to its challenge, which libcurl gives by itself.
  package var hasLegs: Bool { account.map { $0.scheme != .basic } ?? false }
}
