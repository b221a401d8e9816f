import Glibc

/// A CA of the tests' own with a server and a client certificate, made once per process by `openssl`.
struct TestCertificates: Sendable {
  let directory: String

  /// The CA, as PEM: what a client of the test servers must trust.
  var authority: String { directory + "/ca.pem" }
  /// A client certificate with its key, as PEM.
  var client: String { directory + "/client-with-key.pem" }
  /// The same as PKCS#12; its password is `secret`.
  var clientPKCS12: String { directory + "/client.p12" }

  static func shared() throws -> TestCertificates { try made.get() }

  private static let made = Result { try TestCertificates() }

  private init() throws {
    directory = try TestFiles.makeDirectory()
    let result = try ChildProcess.run([TestFiles.parts + "/tls/make-certificates", directory])
    guard result.exit == .status(0) else {
      throw PartFailure("make-certificates: \(String(decoding: result.errors, as: UTF8.self))")
    }
    // A global of a library is never released, so the process's end has to clean up.
    atexit {
      guard let made = try? TestCertificates.shared() else { return }
      _ = try? ChildProcess.run(["rm", "-rf", made.directory])
    }
  }
}
