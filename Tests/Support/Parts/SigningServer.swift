import Testing

/// A server that lets nobody in without a Signature Version 4, which it works out by itself: `Tests/Parts/sigv4/server.py`.
final class SigningServer: Sendable {
  let port: UInt16
  private let server: PartServer

  static let isInstalled = findProgram("python3") != nil

  /// Accounts are `KEY=SECRET` or `KEY=SECRET=TOKEN`.
  init(region: String = "eu-central-1", service: String = "s3", accounts: String...) throws {
    let directory = try TestFiles.makeDirectory()
    server = try PartServer(
      ["python3", TestFiles.parts + "/sigv4/server.py", region, service] + accounts, in: directory)
    port = try server.readyPort()
  }

  func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
}

extension Trait where Self == ConditionTrait {
  /// Skips, and says why, where it is missing.
  static var needsSigningServer: Self {
    .enabled(if: SigningServer.isInstalled, "python3 is not installed: CSupport/install --tests")
  }
}
