import ArgumentParser
import Glibc
import NetSpool

/// What every command that sends requests understands.
struct RequestOptions: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Send a header, as 'Name: value'. Repeatable.", valueName: "field"))
  var header: [HeaderField] = []

  @Option(help: ArgumentHelp("Send this User-Agent. Default: netspool/VERSION.", valueName: "text"))
  var userAgent: String?

  @Option(
    help: ArgumentHelp(
      "Give a request up after this long, retries not included: 30s, 5m, 1h. A stalled transfer ends "
        + "earlier, after 30 s without progress.", valueName: "time"))
  var timeout = TimeSpan(seconds: Double(Self.timeoutSeconds))

  @Option(
    help: ArgumentHelp(
      "Try a request this many times more when it fails for now. Retry-After is honoured.",
      valueName: "n"))
  var retry = Self.retries

  @Option(
    help: ArgumentHelp(
      "Receive at most this many bytes per second: 500k, 2M (binary units).", valueName: "bytes"))
  var limitRate: ByteSize?

  static let timeoutSeconds = 300
  static let retries = 2
  /// The most retries that make sense: the pauses double each time.
  static let retryMax = 100

  func validate() throws {
    guard (0...Self.retryMax).contains(retry) else {
      throw ValidationError("--retry is a number from 0 to \(Self.retryMax).")
    }
    if let userAgent, userAgent.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw ValidationError("--user-agent must not contain control characters.")
    }
  }
}

/// What `post` sends.
struct BodyOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Send this text as it stands, as application/x-www-form-urlencoded. Several are joined by '&'.",
      valueName: "a=b"))
  var data: [String] = []

  @Option(
    help: ArgumentHelp(
      "Send a field, or a file with '@', as multipart/form-data; ';type=' names a file's type. Repeatable.",
      valueName: "k=v|k=@file[;type=t]"))
  var form: [FormField] = []

  @Option(
    help: ArgumentHelp(
      "Send a file as it stands, '-' for standard input; as application/octet-stream unless --header names "
        + "another Content-Type.", valueName: "path"))
  var file: String?

  @Option(help: ArgumentHelp("Send this text, as application/json.", valueName: "text"))
  var json: String?

  func validate() throws {
    let kinds = [!data.isEmpty, !form.isEmpty, file != nil, json != nil]
    guard kinds.count(where: { $0 }) <= 1 else {
      throw ValidationError("--data, --form, --file and --json are four kinds of body: one at a time.")
    }
    if let text = data.first(where: { $0.hasPrefix("@") }) {
      throw ValidationError(
        "--data sends text as it stands. '--file \(text.dropFirst())' sends a file; '%40' is an '@'.")
    }
  }
}

/// A `--header 'Name: value'`.
struct HeaderField: Equatable, Sendable, ExpressibleByArgument {
  let name: String
  let value: String

  /// Nil unless the name is a token (RFC 9110 section 5.6.2) and the value has no line break or NUL.
  init?(argument: String) {
    guard let colon = argument.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
    name = String(argument[..<colon])
    value = argument[argument.utf8.index(after: colon)...].trimmingBlanks
    guard !name.isEmpty, name.utf8.allSatisfy(Self.isTokenByte) else { return nil }
    guard !value.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }) else { return nil }
  }

  static func isTokenByte(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}

extension Substring {
  fileprivate var trimmingBlanks: String {
    var text = self
    while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
    while let last = text.last, last == " " || last == "\t" { text.removeLast() }
    return String(text)
  }
}

/// A `--form k=v` or `--form k=@file`.
struct FormField: Equatable, Sendable, ExpressibleByArgument {
  enum Content: Equatable, Sendable {
    case text(String)
    /// Nil: whatever a file is.
    case file(String, type: String?)
  }

  let name: String
  let content: Content

  /// Nil without a name, or without a path behind the `@`.
  init?(argument: String) {
    guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else { return nil }
    name = String(argument[..<equals])
    let value = argument[argument.index(after: equals)...]
    guard value.hasPrefix("@") else {
      content = .text(String(value))
      return
    }
    let (path, type) = Self.split(value.dropFirst())
    guard !path.isEmpty, type?.isEmpty != true else { return nil }
    content = .file(String(path), type: type.map(String.init))
  }

  /// At the last `;type=`, so that a path may hold anything else.
  private static func split(_ text: Substring) -> (Substring, Substring?) {
    let mark = ";type="
    guard let place = text.indices.last(where: { text[$0...].hasPrefix(mark) }) else { return (text, nil) }
    return (text[..<place], text[place...].dropFirst(mark.count))
  }
}

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

/// A file whose first line is a password.
enum PasswordFile {
  /// Passwords are shorter; what follows the first line may be anything.
  private static let bytesMax = 4_096

  /// The first line without its end; `-` is standard input.
  static func read(_ path: String) throws(IOFailure) -> String {
    let file =
      path == "-"
      ? Descriptor(borrowing: 0, named: "standard input") : try Descriptor(opening: path, O_RDONLY)
    var bytes = [UInt8](repeating: 0, count: bytesMax)
    var count = 0
    while count < bytesMax, !bytes[..<count].contains(UInt8(ascii: "\n")) {
      let more = try file.read(into: &bytes, at: count, count: bytesMax - count)
      if more == 0 { break }
      count += more
    }
    var line = bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }
    if line.last == UInt8(ascii: "\r") { line.removeLast() }
    return String(decoding: line, as: UTF8.self)
  }
}
