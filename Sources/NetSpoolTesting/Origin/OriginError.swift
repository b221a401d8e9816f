/// Why an origin could not be started: the system call that failed, and its `errno`.
public struct OriginError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The call's name, for example `bind`.
  public let call: String
  /// Its `errno`.
  public let errno: Int32

  /// The call and its number in one line.
  public var description: String { "ScriptedOrigin: \(call) failed with errno \(errno)" }
}
