internal import Synchronization

/// How much origins may send over HTTP/2 before anybody takes it, in all answers of a queue that go to streams and come on a
/// connection that other requests may use. Any thread.
///
/// Libcurl lets an origin send 32 MiB of each body, and keeps in memory what comes for a transfer that is paused, as it goes on
/// reading for the others on the connection. A hundred streams that take nothing would be 3 GiB. An answer beyond the limit
/// comes on a connection of its own: libcurl does not read that while its only transfer is paused, so the origin has to wait.
final class ReadAhead: Sendable {
  /// Libcurl 7.88's window for each body; newer versions have 10 MiB.
  static let windowBytes = 32 << 20
  static let bytesMax = 256 << 20

  private let held = Atomic(0)
  private let refused = Atomic(0)

  /// Whether there is no room for another body of unknown length.
  var isFull: Bool { held.load(ordering: .relaxed) + Self.windowBytes > Self.bytesMax }

  /// Takes room, which is given back with the last reference; nil: there is none.
  func take(_ bytes: Int) -> Share? {
    guard held.add(bytes, ordering: .relaxed).newValue <= Self.bytesMax else {
      held.subtract(bytes, ordering: .relaxed)
      return nil
    }
    return Share(bytes, of: self)
  }

  /// Counts an answer that gets a connection of its own.
  func refuse() { refused.add(1, ordering: .relaxed) }

  var report: NetworkBudget {
    NetworkBudget(
      held: held.load(ordering: .relaxed), heldMax: Self.bytesMax,
      refused: refused.load(ordering: .relaxed))
  }

  /// The room that one exchange has.
  final class Share {
    private let owner: ReadAhead
    private var bytes: Int

    fileprivate init(_ bytes: Int, of owner: ReadAhead) { (self.bytes, self.owner) = (bytes, owner) }

    deinit { shrink(to: 0) }

    /// Gives back what is not needed.
    func shrink(to needed: Int) {
      guard needed < bytes else { return }
      owner.held.subtract(bytes - needed, ordering: .relaxed)
      bytes = needed
    }
  }
}
