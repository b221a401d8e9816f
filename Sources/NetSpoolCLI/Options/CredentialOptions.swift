import ArgumentParser
import Glibc
import NetSpool

/// The account that a request is sent for. All may read command lines (proc(5)), so the password has other ways in.
struct CredentialOptions: ParsableArguments {
  @Option("user") var user: String?
  @Option("password-file") var passwordFile: String?
  @Flag("basic") var basic = false
  @Flag("digest") var digest = false
  @Flag("anyauth") var anyauth = false
  @Flag("ntlm") var ntlm = false
  @Option("aws-sigv4") var signing: SigningScope?
  @Flag("in-clear") var inClear = false
  @Option("oauth2-bearer") var bearer: String?
  @Flag("netrc") var netrc = false
  @Option("netrc-file") var netrcFile: String?
  @Flag("netrc-optional") var netrcOptional = false

  static let variable = "NETSPOOL_PASSWORD"

  func validate() throws {
    try refuse(
      [basic, digest, ntlm, anyauth, bearer != nil, signing != nil].count { $0 } > 1,
      "--basic, --digest, --ntlm, --anyauth, --oauth2-bearer and --aws-sigv4 contradict each other.")
    guard let user else {
      try refuse(
        (digest || ntlm || anyauth || signing != nil) && !usesNetrc,
        "--digest, --ntlm, --anyauth and --aws-sigv4 go with --user.")
      try refuse(passwordFile != nil, "--password-file goes with --user.")
      return
    }
    try refuse(bearer != nil, "--user and --oauth2-bearer contradict each other.")
    try refuse(
      user.contains(":") && passwordFile != nil,
      "--password-file and a password in --user contradict each other.")
  }

  /// True if a request may come from a known user.
  var signsIn: Bool { user != nil || bearer != nil || usesNetrc }
  private var usesNetrc: Bool { netrc || netrcOptional || netrcFile != nil }

  /// Says who a request to a URL comes from. Reads each file once.
  func book(_ environment: Environment) throws -> CredentialBook {
    if let bearer { return CredentialBook { _ in .bearer(bearer) } }
    if let user {
      let (name, password) = try account(user, environment)
      return CredentialBook { [self] in credentials(name, password, $0) }
    }
    guard usesNetrc else { return CredentialBook { _ in nil } }
    let path = netrcFile ?? environment["NETRC"] ?? environment["HOME"].map { "\($0)/.netrc" }
    guard let path, let netrc = try Netrc.read(path) else {
      guard let netrcFile, !netrcOptional else { return CredentialBook { _ in nil } }
      throw IOFailure(action: "open", path: netrcFile, code: ENOENT)
    }
    return CredentialBook { [self] url in
      let account = netrc.account(of: url, yieldsToURL: netrcOptional && !self.netrc)
      return account.flatMap { credentials($0.user, $0.password, url) }
    }
  }

  /// Throws when `--aws-sigv4` leaves out what one of these URLs does not say either.
  func requireScope(for urls: [String]) throws(Mistake) {
    guard let signing, let url = urls.first(where: { signing.credentials("", "", for: $0) == nil }) else {
      return
    }
    throw Mistake("--aws-sigv4 does not say region and service, and neither does the host of \(url)")
  }

  private func credentials(_ name: String, _ password: String, _ url: String) -> NetworkCredentials? {
    if let signing { return signing.credentials(name, password, for: url) }
    if digest { return .digest(user: name, password: password) }
    if anyauth { return .password(user: name, password: password) }
    return ntlm ? .ntlm(user: name, password: password) : .basic(user: name, password: password)
  }

  private func account(_ user: String, _ environment: Environment) throws -> (name: String, password: String)
  {
    if let colon = user.firstIndex(of: ":") {
      return (String(user[..<colon]), String(user[user.index(after: colon)...]))
    }
    if let passwordFile { return (user, try Self.firstLine(of: passwordFile)) }
    // Nobody has a password that nobody gave.
    guard let password = environment[Self.variable] ?? (user.isEmpty ? "" : nil) else {
      throw Mistake("--user \(user) has no password: give it in --password-file or $\(Self.variable)")
    }
    return (user, password)
  }

  /// Without its end; `-` is standard input. What follows may be anything.
  private static func firstLine(of path: String) throws(IOFailure) -> String {
    let lines = LineReader(try Descriptor.reading(path), lineBytesMax: 4_096)
    guard case .line(let range) = try lines.next() else { return "" }
    let line = lines[range]
    return String(decoding: line.last == UInt8(ascii: "\r") ? line.dropLast() : line, as: UTF8.self)
  }
}

/// The accounts that requests are sent for, by their URLs.
struct CredentialBook: Sendable {
  /// Nil: the request comes from no account.
  let account: @Sendable (String) -> NetworkCredentials?

  /// Nil: the request comes from no account, and shows no certificate.
  func credentials(for url: String, beside certificate: NetworkCredentials?) -> NetworkCredentials? {
    guard let account = account(url) else { return certificate }
    return certificate.map { $0.with(account) } ?? account
  }
}
