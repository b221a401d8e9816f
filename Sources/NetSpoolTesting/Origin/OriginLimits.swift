/// What a ``ScriptedOrigin`` accepts and keeps. Everything has a limit, so that a runaway client fails
/// its own test and not the machine.
public struct OriginLimits: Sendable {
  /// Bytes of request line and header fields; more is answered 431. Default 65,536.
  public var headBytesMax = 65_536
  /// Header fields of one request; more is answered 431. Default 1,000.
  public var headerFieldsMax = 1_000
  /// Bytes of each request body that are kept for inspection; all of them are counted and hashed.
  /// Default 1,048,576.
  public var keptBodyBytesMax = 1_048_576
  /// Requests kept for inspection; older ones are dropped, though they stay counted. Default 10,000.
  public var keptRequestsMax = 10_000
  /// Different paths whose hits are counted; later ones count as 0. Default 1,000,000.
  public var countedPathsMax = 1_000_000
  /// Connections open at once; more wait in the listen queue. Default 4,096.
  public var connectionsMax = 4_096
  /// How long a closing connection reads on, so that unread request bytes do not turn the end of an
  /// answer into a reset. Default 1 second.
  public var lingerTime = Duration.seconds(1)

  /// The defaults above.
  public init() {}
}
