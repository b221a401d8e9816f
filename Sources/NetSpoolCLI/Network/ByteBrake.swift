import NetSpool
import Synchronization

/// `--limit-rate`: a token bucket of bytes, shared by all bodies.
final class ByteBrake: Sendable {
  private struct State {
    var tokens: Double
    var lastRefill: ContinuousClock.Instant?
  }

  private let perSecond: Double
  /// What may come at once after a pause: a tenth of a second's worth, at least one byte.
  private let burst: Double
  private let state: Mutex<State>

  init(_ rate: ByteSize) {
    perSecond = Double(rate.bytes)
    burst = max(1, perSecond / 10)
    state = Mutex(State(tokens: burst))
  }

  /// How many of `count` bytes may be taken now.
  func take(_ count: Int, now: ContinuousClock.Instant = .now) -> Int {
    state.withLock { state in
      let elapsed = state.lastRefill.map { $0.duration(to: now) / .seconds(1) } ?? 0
      state.lastRefill = now
      state.tokens = min(burst, state.tokens + max(0, elapsed) * perSecond)
      let taken = min(count, Int(state.tokens))
      state.tokens -= Double(taken)
      return taken
    }
  }
}

/// Slows the operation it is added to by taking its body only as fast as the brake allows. Keeps nothing.
struct BrakeStream: DownloadStream {
  private let brake: ByteBrake

  init(_ brake: ByteBrake) { self.brake = brake }

  var wantsDigest: Bool { false }
  func open(_ head: ResponseHead, bytesExpected: Int64?) {}
  func write(_ bytes: RawSpan) -> WriteResult { .took(brake.take(bytes.byteCount)) }
  func close(_ outcome: Result<Void, NetworkError>) {}
}
