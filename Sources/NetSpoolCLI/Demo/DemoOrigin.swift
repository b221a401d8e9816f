import Glibc
import NetSpoolTesting
import Synchronization

/// The internet of the demo: an origin on loopback that plays a `DemoPlan`.
final class DemoOrigin: Sendable {
  private struct State {
    var requests = 0
    /// The number of requests that were answered with 304.
    var confirmed = 0
    /// Numbers whose bad answer was given.
    var spoiled: Set<Int> = []
    /// The number of requests after which it goes down.
    var requestsUntilDown: Int?
    /// CPU of the origin's threads that have ended, and of the one that runs; in nanoseconds.
    var pastCPU: Int64 = 0
    var currentCPU: Int64 = 0
    var entries: [Entry] = []
  }

  /// A form, as it came.
  struct Entry: Equatable, Sendable {
    let key: String?
    let body: [UInt8]
  }

  static let guestbookPath = "/guestbook"
  static let freshSeconds = 3_600

  let origin: ScriptedOrigin
  private let plan: DemoPlan
  private let state = Mutex(State())

  init(_ plan: DemoPlan) throws(OriginError) {
    self.plan = plan
    var limits = OriginLimits()
    limits.keptRequestsMax = 1
    limits.countedPathsMax = 1
    origin = try ScriptedOrigin(limits: limits)
    origin.on(prefix: DemoPlan.path) { [weak self] request in self?.thumbnail(request) ?? .status(410) }
    origin.on(Self.guestbookPath) { [weak self] request in self?.enter(request) ?? .status(410) }
  }

  /// Requests answered or spoiled so far.
  var requests: Int { state.withLock { $0.requests } }

  /// Of `requests`, those that asked whether an image still holds, and were told so without its bytes.
  var confirmed: Int { state.withLock { $0.confirmed } }

  /// CPU that the origin itself took, in seconds, as of its last request: the demo shares a process with it.
  var seconds: Double { state.withLock { Double($0.pastCPU + $0.currentCPU) / 1e9 } }
  var entries: [Entry] { state.withLock { $0.entries } }
  func goDown() { origin.stop() }

  /// Goes down in the middle of what comes: after this many more requests connections are refused.
  func goDown(after requests: Int) { state.withLock { $0.requestsUntilDown = requests } }

  func comeBack() throws(OriginError) {
    origin.stop()
    state.withLock { state in
      state.requestsUntilDown = nil
      state.pastCPU += state.currentCPU
      state.currentCPU = 0
    }
    try origin.start()
  }

  // MARK: On the origin's thread

  private func thumbnail(_ request: RecordedRequest) -> Answer {
    let number = Int(request.path.dropFirst(DemoPlan.path.utf8.count)) ?? 0
    let (isFirst, goesDown) = count(number)
    if goesDown { origin.stop() }
    defer { measure() }
    let image = image(number, request)
    switch plan.fate(of: number) {
    case .plain: return image
    case .slow(let milliseconds): return image.delay(.milliseconds(milliseconds))
    case .missing: return .text("no such thumbnail\n", status: 404)
    case .cutOff: return isFirst ? image.resetAfter(1_000) : image
    case .busy: return isFirst ? .text("busy\n", status: 503).header("Retry-After", "1") : image
    }
  }

  /// Fresh for an hour; then its holder may ask whether it still is the same.
  private func image(_ number: Int, _ request: RecordedRequest) -> Answer {
    let tag = "\"thumbnail \(number)\""
    let isHeld = request.header("If-None-Match") == tag
    if isHeld { state.withLock { $0.confirmed += 1 } }
    let answer = isHeld ? Answer.status(304) : .bytes(Thumbnail.png(number), type: "image/png")
    return answer.header("ETag", tag).header("Cache-Control", "max-age=\(Self.freshSeconds)")
  }

  private func enter(_ request: RecordedRequest) -> Answer {
    let entry = Entry(key: request.header("Idempotency-Key"), body: request.body)
    state.withLock { $0.entries.append(entry) }
    return .text("thank you\n", status: 201)
  }

  private func count(_ number: Int) -> (isFirst: Bool, goesDown: Bool) {
    state.withLock { state in
      state.requests += 1
      state.requestsUntilDown = state.requestsUntilDown.map { $0 - 1 }
      return (state.spoiled.insert(number).inserted, state.requestsUntilDown == 0)
    }
  }

  private func measure() {
    let spent = SystemClock.now(CLOCK_THREAD_CPUTIME_ID)
    state.withLock { $0.currentCPU = spent }
  }
}
