/// Conducts one job: pulls lines as places in the window become free, starts them, writes what came of them,
/// and stops in good order.
///
/// One thread does all of it (the caller's); only `FinishedFetches` is shared with the network's threads. Memory
/// depends on the window, never on the list.
final class FetchJob {
  struct Settings {
    /// How many fetches may be inside the network part, waiting ones included.
    var window = 256
    var budget = ErrorBudget.unlimited
    var rate: RateLimiter?
    var hostRates: HostRates?
    /// The URLs of the command line: of these the end tells which are done.
    var named: Set<String> = []
  }

  struct Outputs {
    var results: OutputFile?
    var failed: OutputFile?
    var place: (any BodyPlace)?
  }

  struct Surroundings {
    let fetcher: any Fetcher
    let reactor: any Reactor
    let stop: StopSwitch
    let reporter: JobReporter
  }

  struct End: Equatable {
    let summary: Summary
    var status: JobStatus
    /// Stopped before the list's end: there is something to resume.
    let isPartial: Bool
    /// How many of how many are left to do, where that is known: `3 of 10`.
    var left: String?
    /// Of the URLs that the command line names, those that are done.
    var doneNamed: Set<String> = []
  }

  /// Why nothing more is pulled from the list at the moment.
  private enum Pause: Equatable {
    case none, windowFull, starved, atEnd
    case rate(nanoseconds: Int64)
  }

  private let plan: FetchPlan
  private let around: Surroundings
  private let counter: LineCounter?
  private let finished: FinishedFetches
  private var settings: Settings
  private var doneNamed: Set<String> = []
  private var outputs: Outputs
  /// True if bodies land first, also once nothing can be put into its place any more.
  private let landsBodies: Bool

  private var summary = Summary()
  private var inFlight: [Int: FetchItem] = [:]
  /// Pulled, but the rate does not allow it yet.
  private var pending: FetchItem?
  /// Pulled, but their hosts' rates do not allow them yet.
  private var held = HeldItems()
  private var pause = Pause.none
  private var listEnded = false
  private var stopped: JobStatus?
  /// A list was written to while it was read, so there is more than was read.
  private var listHasChanged = false
  private var hasCancelledAll = false
  /// When it is said that the job stops; nil once it was.
  private var noticeDue: Int64?
  private var nextFlush: Int64

  /// A killed process loses at most this much of its results.
  static let flushInterval: Int64 = 1_000_000_000
  /// How soon the cache is looked at again that is behind, in nanoseconds.
  private static let cachePause: Int64 = 2_000_000
  /// Lines looked at before finished fetches, the signals and the clock get a turn.
  static let pullsPerTurn = 512
  /// What only waited has ended by then, so that what is under way can be counted.
  static let noticeDelay: Int64 = 100_000_000

  init(
    plan: FetchPlan, settings: Settings, outputs: Outputs, counter: LineCounter? = nil, around: Surroundings
  ) {
    (self.plan, self.settings, self.outputs) = (plan, settings, outputs)
    (self.counter, self.around, landsBodies) = (counter, around, outputs.place != nil)
    finished = FinishedFetches(wake: around.reactor.wake)
    nextFlush = around.reactor.now + Self.flushInterval
    around.stop.onPress(drains: true, around.reactor.wake)
  }

  func run() -> End {
    let begin = around.reactor.now
    while true {
      takeFinished()
      heedSignals()
      attempt { () throws(IOFailure) in try fill() }
      tick()
      if isOver { break }
      sayStop()
      around.reactor.wait(input: pause == .starved ? plan.list.waitingFor : nil, timeout: timeout)
    }
    noticeDue = noticeDue.map { _ in 0 }
    sayStop()
    flush()
    if stopped == nil, !listHasChanged { writing(\.place) { place throws(IOFailure) in try place.finish() } }
    summary.list = plan.tally
    summary.seconds = Double(around.reactor.now - begin) / 1e9
    summary.unstored = around.fetcher.unstored
    around.reporter.painter.finish(now: around.reactor.now, counts)
    return End(
      summary: summary, status: stopped ?? (listHasChanged ? .localIO : statusAtEnd),
      isPartial: stopped != nil || listHasChanged, left: listHasChanged ? nil : left, doneNamed: doneNamed)
  }

  /// A short list is judged here for the first time.
  private var statusAtEnd: JobStatus {
    guard isBudgetSpent(atEnd: true) else { return summary.exitStatus }
    around.reporter.hadTooManyErrors()
    return .tooManyErrors
  }

  private var left: String? {
    let skipped = plan.tally.duplicates + plan.tally.otherShards + plan.tally.resumed + plan.tally.broken
    guard let total = counter?.total, total >= skipped + summary.finished else { return nil }
    return "\(HumanText.count(total - skipped - summary.finished)) of \(HumanText.count(total))"
  }

  private var isOver: Bool {
    inFlight.isEmpty && (stopped != nil || (listEnded && pending == nil && held.isEmpty))
  }

  // MARK: Starting

  private func fill() throws(IOFailure) {
    pause = .none
    while let item = held.take(now: around.reactor.now) { start(item) }
    for _ in 0..<Self.pullsPerTurn {
      guard stopped == nil, pause == .none else { return }
      if inFlight.count + held.count >= settings.window {
        pause = .windowFull
      } else if pending == nil {
        try pull()
      } else {
        startPending()
      }
    }
  }

  private func pull() throws(IOFailure) {
    switch try plan.next() {
    case .fetch(let item): pending = item
    case .skipped: break
    case .starved: pause = .starved
    case .changed(let change):
      listHasChanged = true
      around.reporter.ioFailed(change)
    case .end: (pause, listEnded) = (.atEnd, true)
    case .broken(let line):
      around.reporter.broken(line)
      writing(\.failed) { writer throws(IOFailure) in try writer.write(line, of: plan.list) }
      stopIfBudgetIsSpent()
    }
  }

  private func startPending() {
    if around.fetcher.isAheadOfCache {
      pause = .rate(nanoseconds: Self.cachePause)
    } else if let wait = settings.rate?.take(now: around.reactor.now) {
      pause = .rate(nanoseconds: wait)
    } else if let item = pending {
      pending = nil
      let now = around.reactor.now
      let time = settings.hostRates?.reserve(URLText.host(item.url), now: now) ?? now
      if time > now { held.add(item, at: time) } else { start(item) }
    }
  }

  private func start(_ item: FetchItem) {
    inFlight[item.id] = item
    summary.started += 1
    around.fetcher.start(item) { [finished] outcome in finished.add((item.id, outcome)) }
  }

  // MARK: Ending

  private func takeFinished() {
    for finish in finished.takeAll() {
      guard let item = inFlight.removeValue(forKey: finish.id) else {
        preconditionFailure("fetch \(finish.id) ended twice")
      }
      end(item, finish.outcome)
    }
  }

  private func end(_ item: FetchItem, _ outcome: FetchOutcome) {
    let outcome = placed(item, outcome)
    summary.count(outcome)
    record(item, outcome)
    if outcome.ending == .done, settings.named.contains(item.url) { doneNamed.insert(item.url) }
    guard case .failed(let permanence) = outcome.ending else { return }
    around.reporter.failed(item, outcome)
    if case .local(let errno) = permanence, IOFailure.stopsEverything(errno) { stop(.localIO) }
    stopIfBudgetIsSpent()
  }

  /// The outcome once its body is in its place. One that could not be put there is for the next run.
  private func placed(_ item: FetchItem, _ outcome: FetchOutcome) -> FetchOutcome {
    guard outcome.ending == .done, landsBodies else { return outcome }
    var placed = FetchOutcome(.cancelled)
    writing(\.place) { target throws(IOFailure) in placed = try target.add(item, outcome) }
    return placed
  }

  private func record(_ item: FetchItem, _ outcome: FetchOutcome) {
    if outputs.results == nil, outputs.failed == nil { return }
    guard var record = ResultRecord(item, outcome) else { return }
    if outputs.results != nil { record.ended = WallTime.text(at: WallTime.now) }
    writing(\.results) { writer throws(IOFailure) in try writer.write(record.line) }
    guard outcome.ending != .done else { return }
    writing(\.failed) { writer throws(IOFailure) in
      try writer.write(url: item.url, output: item.output, item.options)
    }
  }

  private func stopIfBudgetIsSpent() { if isBudgetSpent(atEnd: false) { stop(.tooManyErrors) } }

  private func isBudgetSpent(atEnd: Bool) -> Bool {
    let broken = plan.tally.broken
    return settings.budget.isSpent(
      failed: summary.failed + broken, finished: summary.finished + broken, atEnd: atEnd)
  }

  private func heedSignals() {
    guard let status = around.stop.status else { return }
    stop(status)
    guard around.stop.isQuitting, !hasCancelledAll else { return }
    around.fetcher.cancelAll()
    hasCancelledAll = true
  }

  /// Pulls nothing more and lets what is under way end. The first cause names the exit status.
  private func stop(_ cause: JobStatus) {
    guard stopped == nil else { return }
    stopped = cause
    pending = nil
    held.removeAll()
    around.fetcher.cancelWaiting()
    noticeDue = around.reactor.now + Self.noticeDelay
  }

  /// Says why the job stops and for how many it waits, once what only waited is gone.
  private func sayStop() {
    guard let due = noticeDue, let stopped, around.reactor.now >= due else { return }
    noticeDue = nil
    around.reporter.drains(stopped, inFlight: inFlight.count)
  }

  // MARK: Files and time

  private func attempt(_ work: () throws(IOFailure) -> Void) {
    do throws(IOFailure) { try work() } catch {
      around.reporter.ioFailed(error)
      stop(.localIO)
    }
  }

  /// Writes with one of the writers. One that fails is given up: half a line more would be no help.
  private func writing<Writer>(
    _ writer: WritableKeyPath<Outputs, Writer?>, _ work: (Writer) throws(IOFailure) -> Void
  ) {
    guard let file = outputs[keyPath: writer] else { return }
    attempt { () throws(IOFailure) in
      do throws(IOFailure) { try work(file) } catch {
        outputs[keyPath: writer] = nil
        throw error
      }
    }
  }

  private func flush() {
    writing(\.results) { writer throws(IOFailure) in try writer.flush() }
    writing(\.failed) { writer throws(IOFailure) in try writer.flush() }
  }

  private func tick() {
    let now = around.reactor.now
    around.reporter.painter.tick(now: now) { counts }
    guard now >= nextFlush else { return }
    flush()
    // What was under way when the job stopped may have failed and now wait, perhaps an hour, for another try.
    if stopped != nil { around.fetcher.cancelWaiting() }
    nextFlush = now + Self.flushInterval
  }

  private var counts: ProgressMeter.Counts {
    ProgressMeter.Counts(
      finished: summary.finished, failed: summary.failed, hits: summary.hits, bytes: summary.bytes,
      inFlight: inFlight.count, cancelled: summary.cancelled, listFraction: plan.list.fraction,
      linesTotal: counter?.total, linesRead: plan.tally.lines, listEnded: listEnded)
  }

  private var timeout: Int64 {
    if pause == .none && stopped == nil { return 0 }
    let now = around.reactor.now
    let tick = min(nextFlush, around.reporter.painter.nextTick ?? .max, held.due ?? .max, noticeDue ?? .max)
    if case .rate(let wait) = pause { return min(wait, max(0, tick - now)) }
    return max(0, tick - now)
  }
}
