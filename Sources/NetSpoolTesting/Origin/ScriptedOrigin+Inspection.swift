/// What it received.
extension ScriptedOrigin {
  /// The requests in the order in which they were read, up to ``OriginLimits/keptRequestsMax`` of the latest.
  public var requests: [RecordedRequest] { state.readLog(\.requests) }

  /// How many requests were read, kept or not.
  public var requestCount: Int { state.readLog(\.requestCount) }

  /// How many requests had this path, whatever their query.
  public func hits(_ path: String) -> Int { state.readLog { $0.hits[path, default: 0] } }

  /// Every path that was asked for, and how often.
  public var hits: [String: Int] { state.readLog(\.hits) }

  /// How many connections were accepted.
  public var connectionCount: Int { state.readLog(\.connectionCount) }

  /// How many connections are open. One that the origin has closed counts until the client has closed it too, or
  /// ``OriginLimits/lingerTime`` is over.
  public var openConnections: Int { state.readLog(\.openConnections) }

  /// How many requests were not HTTP/1.1 as RFC 9112 wants it of a client, or were cut off.
  public var rejectedCount: Int { state.readLog(\.rejectedCount) }

  /// Why they were rejected; the first hundred of them. They are not among ``requests``.
  public var rejectedRequests: [String] { state.readLog(\.rejected) }

  /// Forgets the requests and all counts but ``openConnections``.
  public func forgetRequests() { state.changeLog { $0.forget() } }
}
