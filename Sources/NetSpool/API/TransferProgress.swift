/// How far a body has come. Reported at most ten times a second, and always once at the end.
public struct TransferProgress: Sendable, Hashable {
  /// Bytes so far.
  public internal(set) var done: Int64
  /// Bytes in all; nil when the length is not known.
  public internal(set) var total: Int64?
  /// Bytes a second since the start.
  public internal(set) var bytesPerSecond: Double

  /// 0 to 1; nil when the length is not known.
  public var fraction: Double? { total.map { $0 == 0 ? 1 : min(1, Double(done) / Double($0)) } }
}
