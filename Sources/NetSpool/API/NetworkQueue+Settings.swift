internal import Synchronization

extension NetworkQueue {
  /// The settings in force.
  public var configuration: Configuration { driver.settings.withLock { $0 } }

  /// Changes the settings; nothing that runs is stopped. Throws `.invalidConfiguration` and changes nothing.
  public func configure(_ change: (inout Configuration) -> Void) throws(NetworkError) {
    var new = configuration
    change(&new)
    if let option = new.firstInvalid { throw NetworkError(code: .invalidConfiguration, reason: option) }
    driver.apply(new)
  }

  /// How many requests an origin gets at once. An invalid value is ignored; `configure` says so.
  public var sizing: Sizing {
    get { configuration.sizing }
    set { try? configure { $0.sizing = newValue } }
  }

  /// Transfers at once, all origins together; 256. A value below 1 is ignored; `configure` says so.
  public var maximumConcurrent: Int {
    get { configuration.maximumConcurrent }
    set { try? configure { $0.maximumConcurrent = newValue } }
  }

  /// Transfers at once to one origin; 64. A value below 1 is ignored; `configure` says so.
  public var maximumPerOrigin: Int {
    get { configuration.maximumPerOrigin }
    set { try? configure { $0.maximumPerOrigin = newValue } }
  }

  /// Nothing new starts while true; what runs goes on. False by default.
  public var isSuspended: Bool {
    get { configuration.isSuspended }
    set { try? configure { $0.isSuspended = newValue } }
  }
}
