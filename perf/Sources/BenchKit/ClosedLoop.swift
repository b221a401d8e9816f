import Dispatch
import Synchronization

/// Keeps a fixed number of requests outstanding: each that ends starts the next.
///
/// Counting begins with the completion number `warmup` and ends `requests` completions later. The loop is
/// kept full until then, so there is no tail: what is outstanding at the end is abandoned with the process.
///
/// With a rate it is open: requests start on time, and latency counts from the time at which they should have. A
/// stall then shows in all it held up, and not only in the few that were under way.
package final class ClosedLoop: Sendable {
  private struct State {
    var started = 0
    var completed = 0
    var errors = 0
    var latencies: [UInt32]
    var begin: Usage?
    var end: Usage?
    var peakBytes = 0
    var timeline: LoadTimeline
  }

  private let options: Options
  private let send: @Sendable (_ index: Int, _ loop: ClosedLoop) -> Void
  private let state: Mutex<State>
  private let done = DispatchSemaphore(value: 0)
  private let pace: Pace?

  package init(options: Options, send: @escaping @Sendable (_ index: Int, _ loop: ClosedLoop) -> Void) {
    self.options = options
    self.send = send
    // Filled here, so that the pages are touched before the first request and equally by every client.
    state = Mutex(
      State(latencies: [UInt32](repeating: 0, count: options.requests), timeline: LoadTimeline(options)))
    pace = options.rate > 0 ? Pace(rate: options.rate) : nil
  }

  /// Starts the first requests and blocks until the last one that counts has ended.
  ///
  /// `release` runs after all first requests were handed over: the place to open a queue held shut.
  package func run(release: () -> Void = {}) -> LoopResult {
    if options.warmup == 0 { state.withLock { $0.begin = Usage.now() } }
    if let pace {
      release()
      pace.run(options.warmup + options.requests) { _ in startNext() }
    } else {
      for _ in 0..<(options.concurrency + options.queued) { startNext() }
      release()
    }
    done.wait()
    return state.withLock { state in
      guard let begin = state.begin, let end = state.end else {
        preconditionFailure("the loop ended without both of its readings")
      }
      return LoopResult(
        usage: end - begin, requests: options.requests, errors: state.errors,
        latencies: state.latencies, peakBytes: state.peakBytes, timeline: state.timeline)
    }
  }

  /// When request number `index` starts: now or, with a rate, when it should have.
  package func startTime(_ index: Int) -> UInt64 { pace?.time(index) ?? Clock.monotonic() }

  /// One request has ended. Call from any thread, once per request; starts the next one.
  package func completed(startedAt: UInt64, ok: Bool) {
    let latency = UInt32(clamping: Clock.monotonic() - startedAt)
    let goesOn = state.withLock { state in
      let index = state.completed - options.warmup
      guard index < options.requests else { return false }
      if index >= 0 {
        state.latencies[index] = latency
        if let pace { state.timeline.add(latency, at: startedAt, since: pace.time(options.warmup)) }
      }
      if !ok { state.errors += 1 }
      state.completed += 1
      if state.completed == options.warmup { state.begin = Usage.now() }
      guard index + 1 == options.requests else { return true }
      state.end = Usage.now()
      state.peakBytes = Memory.peak()
      return false
    }
    if !goesOn { done.signal() } else if pace == nil { startNext() }
  }

  private func startNext() {
    let index = state.withLock { state in
      defer { state.started += 1 }
      return state.started
    }
    send(index, self)
  }
}

/// What a closed loop has measured.
package struct LoopResult: Sendable {
  package var usage: Usage
  package var requests: Int
  package var errors: Int
  /// Start to completion of each counted request, in nanoseconds, in the order of completion.
  package var latencies: [UInt32]
  package var peakBytes: Int
  package var timeline: LoadTimeline
}

extension Report {
  /// All of a closed loop's numbers.
  package mutating func add(_ result: LoopResult) {
    add(result.usage, requests: result.requests)
    add(latencies: result.latencies)
    if !result.timeline.points.isEmpty { add("timeline_us", result.timeline.points) }
    add("rss_max_bytes", result.peakBytes)
    add("errors", result.errors)
  }
}
