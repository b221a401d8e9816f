/// What an engine has refused of an origin's proof of who it is: three times in a row, and for a second it need not be shown
/// again. Each handshake that ends so keeps the loop for a millisecond. The refusal may be the origin's,
/// of the certificate that a client has shown: so it counts for that one.
///
/// Three, as one of an origin's machines may have a bad certificate while the others do well.
struct RefusedProof {
  private static let countMax = 3
  private static let rememberedTime: Microseconds = 1_000_000

  private var asker: (engine: UInt64, identity: UInt64) = (0, 0)
  private var count = 0
  private var failure: NetworkError?
  private var until: Microseconds = 0

  /// The end of an exchange.
  ///
  /// - Parameter identity: that of its connection (`NetworkCredentials.connectionIdentity`).
  mutating func note(
    _ failure: NetworkError?, by engine: UInt64, as identity: UInt64 = 0, now: Microseconds
  ) {
    guard let failure else {
      if count > 0, asker == (engine, identity) { self = Self() }
      return
    }
    guard failure.code == .tlsRejected, !Self.ownCauses.contains(failure.cause) else { return }
    count = asker == (engine, identity) ? count + 1 : 1
    (asker, self.failure) = ((engine, identity), failure)
    if count >= Self.countMax { until = now + Self.rememberedTime }
  }

  /// How an exchange would end that needs another proof.
  func failure(for engine: UInt64, as identity: UInt64 = 0, now: Microseconds) -> NetworkError? {
    count >= Self.countMax && asker == (engine, identity) && now < until ? failure : nil
  }

  /// This side's.
  private static let ownCauses: [NetworkError.Cause?] = [.trustStore, .clientCertificate]
}
