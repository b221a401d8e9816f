import Glibc

/// The certificates of the judgement of TLS, made by `Tests/Parts/tls/make-variants`.
///
/// An RSA key of 8,192 bits takes seconds, so they are kept in the user's cache, under a name that the maker's text
/// decides: another maker, other certificates.
struct TLSCertificates: Sendable {
  let directory: String

  /// What a client must trust.
  var authority: String { directory + "/ca.pem" }

  static func shared() throws -> TLSCertificates { try made.get() }

  private static let made = Result { try TLSCertificates() }

  private init() throws {
    guard let python = PythonModules.interpreter, let cache = PythonModules.cache else {
      throw PartFailure("the Python modules are not installed")
    }
    let maker = TestFiles.parts + "/tls/make-variants"
    let sum = String(decoding: try ChildProcess.run(["sha256sum", maker]).output.prefix(16), as: UTF8.self)
    directory = "\(cache)/tls-\(sum)"
    guard unsafe access(authority, R_OK) != 0 else { return }
    try Self.make(python, maker, directory)
  }

  /// Beside its place and then moved there: what is there is whole, whoever makes it at the same time.
  private static func make(_ python: String, _ maker: String, _ directory: String) throws {
    let draft = "\(directory).\(getpid())"
    let script = """
      mkdir -p "$3" && "$1" "$2" "$3" && chmod 700 "$3" && { mv -T "$3" "$4" 2>/dev/null || rm -rf "$3"; }
      """
    let result = try ChildProcess.run(
      ["sh", "-c", script, "sh", python, maker, draft, directory], before: Deadline(after: .seconds(120)))
    guard result.exit == .status(0) else {
      throw PartFailure("make-variants: \(String(decoding: result.errors, as: UTF8.self))")
    }
  }
}
