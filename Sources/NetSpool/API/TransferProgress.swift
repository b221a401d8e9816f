/// How far a body has come. Reported at most ten times a second, and always once at the end.
public struct TransferProgress: Sendable, Hashable {
  private let core: CoreTransferProgress
  init(core: CoreTransferProgress) { self.core = core }

  /// Bytes so far.
  public var done: Int64 { core.done }
  /// Bytes in all; nil when the length is not known.
  public var total: Int64? { core.total }
  /// 0 to 1; nil when the length is not known.
  public var fraction: Double? {
    core.total.map { $0 == 0 ? 1 : min(1, Double(core.done) / Double($0)) }
  }
  /// Bytes a second since the start.
  public var bytesPerSecond: Double { core.bytesPerSecond }
}
