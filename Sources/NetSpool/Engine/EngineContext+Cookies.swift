extension EngineContext {
  /// Any thread: forgets all cookies, behind whatever was enqueued before.
  func removeCookies() {
    guard handleSettings.keepsCookies, driver.isStarted else { return }
    let id = id
    driver.perform { $0.pools.removeCookies(of: id) }
  }
}
