/// Cookies in a file, in the form of Netscape that curl and wget read and write.
extension NetworkEngine {
  /// Writes all cookies to a file, which only its owner may read (0600); an old one is replaced in one step. Cookies of the
  /// session are among them, with the time 0. Takes effect behind what was enqueued before; blocks on the disk for a moment.
  ///
  /// Throws `.invalidConfiguration` unless `Configuration.cookies` is `.inMemory`, `.engineClosed`,
  /// `.engineStartFailed`, and `.sinkFailed` with the errno in `underlying` for a path that cannot be
  /// written.
  public func exportCookies(to path: String) async throws {
    let lines = try await onCookies { $0.cookieLines }
    let text = "# Netscape HTTP Cookie File\n" + lines.map { $0 + "\n" }.joined()
    try CookieFile.write(Array(text.utf8), to: path)
  }

  /// Adds the cookies of a file to those that there are; lines that are none are passed over. Takes effect before what is
  /// enqueued afterwards; blocks on the disk for a moment.
  ///
  /// Throws `.invalidConfiguration` unless `Configuration.cookies` is `.inMemory`, `.engineClosed`,
  /// `.engineStartFailed`, and `.uploadSourceFailed` with the errno in `underlying` for a file that cannot be
  /// read, or has more than 3,000 cookies or 4 MiB.
  public func importCookies(from path: String) async throws {
    let lines = try CookieFile.lines(of: path)
    try await onCookies { [jar] in
      $0.addCookies(lines)
      jar?.replace($0.cookieLines)
    }
  }

  private func onCookies<Value: Sendable>(_ body: @escaping @Sendable (SharedState) -> Value) async throws
    -> Value
  {
    guard handleSettings.keepsCookies else { throw NetworkError(.invalidConfiguration, reason: "cookies") }
    let port = homePort
    if let failure = port.startIfNeeded(again: true) { throw failure }
    let value: Value? = await withCheckedContinuation { continuation in
      port.perform(of: id) { [id, handleSettings] core in
        continuation.resume(returning: body(core.starter.pools.cookies(of: id, handleSettings)))
      } otherwise: {
        continuation.resume(returning: nil)
      }
    }
    guard let value else { throw port.loop.whyClosed }
    return value
  }
}
