/// When a running transfer has taken too long, and in which phase. Pure: time is passed in.
///
/// libcurl's own timers cost 15 % when set per transfer and have no limit for the head, so one tick of the
/// loop asks these for every running transfer.
struct Deadlines: Sendable {
  /// The facts that are known at a tick.
  struct Progress: Sendable {
    var isConnected: Bool
    var hasHead: Bool
    var bytes: Int64
    /// Paused by its user: nothing counts.
    var isPaused: Bool
    /// Paused by a slow reader: the origin is not to blame, and only a total that was asked for counts.
    var waitsForReader: Bool

    init(isConnected: Bool, hasHead: Bool, bytes: Int64, isPaused: Bool, waitsForReader: Bool = false) {
      self.isConnected = isConnected
      self.hasHead = hasHead
      self.bytes = bytes
      self.isPaused = isPaused
      self.waitsForReader = waitsForReader
    }
  }

  private(set) var timeouts: NetworkRequest.Timeouts
  private let startedAt: Microseconds
  private var connectedAt: Microseconds?
  private var checkedAt: Microseconds
  private var checkedBytes: Int64 = 0
  private var pausedFor: Microseconds = 0
  private var lastTick: Microseconds

  init(_ timeouts: NetworkRequest.Timeouts, now: Microseconds) {
    self.timeouts = timeouts
    startedAt = now
    checkedAt = now
    lastTick = now
  }

  mutating func check(_ progress: Progress, now: Microseconds) -> NetworkError.Cause? {
    defer { lastTick = now }
    if progress.isPaused {
      pausedFor += now - lastTick
      restartStall(progress, now)
      return nil
    }
    if let total = timeouts.total, now - startedAt - pausedFor >= total.microseconds { return .total }
    if progress.waitsForReader {
      restartStall(progress, now)
      return nil
    }
    guard progress.isConnected else {
      return now - startedAt >= timeouts.connect.microseconds ? .connect : nil
    }
    if connectedAt == nil {
      connectedAt = now
      restartStall(progress, now)
    }
    return progress.hasHead ? checkStall(progress, now) : checkHead(progress, now)
  }

  /// While the request's body is still going out, the origin owes no head yet: only a stall counts.
  private mutating func checkHead(_ progress: Progress, _ now: Microseconds) -> NetworkError.Cause? {
    if progress.bytes > checkedBytes {
      restartStall(progress, now)
      return nil
    }
    return now - max(checkedAt, connectedAt!) >= timeouts.headers.microseconds ? .headers : nil
  }

  private mutating func checkStall(_ progress: Progress, _ now: Microseconds) -> NetworkError.Cause? {
    guard let stall = timeouts.stall else { return nil }
    let elapsed = now - checkedAt
    let owed = Double(timeouts.stallBytesPerSecond) * Double(elapsed) / 1e6
    // Looked at once a second, and at least twice within the limit.
    if elapsed >= min(1_000_000, stall.microseconds / 2), Double(progress.bytes - checkedBytes) >= owed {
      restartStall(progress, now)
      return nil
    }
    return elapsed >= stall.microseconds ? .stall : nil
  }

  /// Another shares the exchange, who is more patient.
  mutating func widen(_ other: NetworkRequest.Timeouts) { timeouts = timeouts.longest(other) }

  /// What counts against the total.
  func spent(now: Microseconds) -> Microseconds { max(0, now - startedAt - pausedFor) }

  private mutating func restartStall(_ progress: Progress, _ now: Microseconds) {
    checkedAt = now
    checkedBytes = progress.bytes
  }
}
