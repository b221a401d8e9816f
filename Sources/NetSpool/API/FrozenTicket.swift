/// What you hold once a request is on the disk: it will be sent, whatever becomes of this process.
public struct FrozenTicket: Sendable, Hashable {
  /// The request's number in its store: strictly increasing, never given twice.
  public let id: UInt64
  /// Sent with every attempt.
  public let idempotencyKey: String
  /// A request with the same `dedupeKey` was waiting already, and this is its ticket.
  public let isDuplicate: Bool
  /// Names of the fields whose values are not on the disk because they are secret (<doc:Security>): after a
  /// restart they come from the engine's credentials and headers, or from `FreezeConfiguration.secrets`.
  public let withheldFields: [String]
}
