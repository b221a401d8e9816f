import NetSpool

extension RequestOptions {
  /// Error pages longer than this are cut off: they are only looked at by people.
  static let errorPageBytesMax = 1 << 20

  /// The options as an engine's settings.
  var engineConfiguration: NetworkEngine.Configuration {
    var configuration = NetworkEngine.Configuration()
    configuration.headers = headers
    let timeout = Duration.seconds(self.timeout.seconds)
    configuration.timeouts.total = timeout
    configuration.timeouts.headers = min(timeout, configuration.timeouts.headers)
    configuration.timeouts.connect = min(timeout, configuration.timeouts.connect)
    configuration.originPauseMax = .seconds(3600)  // a job has time
    configuration.retry = .attempts(retry + 1)
    configuration.limits.bodyBytesInMemoryMax = Self.errorPageBytesMax
    return configuration
  }

  /// With `--user-agent`, or the name of this program.
  var headers: NetworkRequest.Headers {
    var headers = NetworkRequest.Headers()
    for field in header { headers.add(field.name, field.value) }
    if let userAgent {
      headers.set("User-Agent", userAgent)
    } else if !headers.contains("User-Agent") {
      headers.set("User-Agent", "netspool/\(NetSpoolTool.version)")
    }
    return headers
  }
}
