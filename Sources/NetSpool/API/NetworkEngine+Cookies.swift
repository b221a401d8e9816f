extension NetworkEngine {
  /// What becomes of cookies.
  public enum Cookies: Sendable, Hashable {
    /// `Set-Cookie` is only a field of an answer. The default.
    case none
    /// Kept in memory, for this engine alone and as long as the process, and sent back where they belong (RFC 6265),
    /// redirects included. A libcurl built with a list of public suffixes refuses cookies for those. Names with a dot
    /// at their end are refused (`.invalidURL`).
    case inMemory
  }

  /// Forgets all cookies. Takes effect behind what was enqueued before.
  public func removeCookies() {
    guard handleSettings.keepsCookies, driver.isStarted else { return }
    let id = id
    driver.perform { $0.pools.removeCookies(of: id) }
  }
}
