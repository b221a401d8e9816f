import ArgumentParser
import NetSpool

/// Who a request comes from. Everybody on a machine may read command lines (proc(5)), so the password has other ways
/// in.
struct CredentialOptions: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "Sign in as this user, by Basic unless told otherwise: 'user:password', or 'user' with the password in "
        + "--password-file or $\(Self.variable), where other users of this machine do not see it.",
      valueName: "user"))
  var user: String?

  @Option(
    help: ArgumentHelp(
      "Read the password from the first line of this file; '-' is standard input.", valueName: "file"))
  var passwordFile: String?

  @Flag(help: "Sign in by Digest, with MD5 or SHA-256, when the origin asks.")
  var digest = false

  @Flag(help: "Sign in by NTLM: 'DOMAIN\\user'. Each request has a connection of its own.")
  var ntlm = false

  @Flag(
    help: "Send the password over plain HTTP to other machines as well, where anybody on the way can read it."
  )
  var inClear = false

  static let variable = "NETSPOOL_PASSWORD"

  func validate() throws {
    guard let user else {
      if digest || ntlm || inClear || passwordFile != nil {
        throw ValidationError("--digest, --ntlm, --password-file and --in-clear go with --user.")
      }
      return
    }
    if digest && ntlm { throw ValidationError("--digest and --ntlm contradict each other.") }
    if user.isEmpty || user.hasPrefix(":") { throw ValidationError("--user is a name, or 'name:password'.") }
    if user.contains(":"), passwordFile != nil {
      throw ValidationError("--password-file and a password in --user contradict each other.")
    }
  }

  /// Nil without `--user`. Throws `IOFailure` for a file that cannot be read, and `Missing`.
  func credentials(_ environment: Environment) throws -> NetworkCredentials? {
    guard let user else { return nil }
    let (name, password) = try account(user, environment)
    if digest { return .digest(user: name, password: password) }
    return ntlm ? .ntlm(user: name, password: password) : .basic(user: name, password: password)
  }

  private func account(_ user: String, _ environment: Environment) throws -> (name: String, password: String)
  {
    if let colon = user.firstIndex(of: ":") {
      return (String(user[..<colon]), String(user[user.index(after: colon)...]))
    }
    if let passwordFile { return (user, try PasswordFile.read(passwordFile)) }
    guard let password = environment[Self.variable] else { throw Missing(user: user) }
    return (user, password)
  }

  /// A user without a password.
  struct Missing: Error, CustomStringConvertible {
    let user: String
    var description: String {
      "--user \(user) has no password: give it in --password-file or $\(CredentialOptions.variable)"
    }
  }
}
