import Dispatch
import NetSpool
import Synchronization

/// A `frozen thaw`, from its options to its exit status.
struct ThawRun {
  let options: FrozenThawCommand
  let console: Console
  let stop: StopSwitch
  var environment = Environment.process
  /// Where outcomes go; called on the engine's delivery queue.
  var print: @Sendable ([UInt8]) throws(IOFailure) -> Void = { bytes throws(IOFailure) in
    try StandardOutput.write(bytes)
  }

  private enum Event: Sendable {
    case ended(UInt64, isSent: Bool)
    case unprinted(IOFailure)
    case pressed
  }

  private struct Tally {
    var sent = 0
    var dead = 0
    /// The requests that are to be sent and are not.
    var left: Set<UInt64>
    var held = 0
    var failure: IOFailure?

    mutating func note(_ event: Event) {
      switch event {
      case .ended(let id, let isSent):
        left.remove(id)
        if isSent { sent += 1 } else { dead += 1 }
      case .unprinted(let failure): self.failure = failure
      case .pressed: break
      }
    }
  }

  /// At the deadline and after a signal, for answers that may be on their way.
  private static let graceSeconds = 2.0

  /// Throws `NetworkError` for settings that the library refuses, `IOFailure`, and `StoreFailure`.
  func run() throws -> JobStatus {
    let deadline = DispatchTime.now() + options.timeout.seconds
    // What may be sent: nothing before it was looked at.
    let released = Mutex<Set<UInt64>>([])
    var settings = try FrozenSettings(options.place, environment)
    var secrets = NetworkRequest.Headers()
    for field in options.header { secrets.add(field.name, field.value ?? "") }
    settings.connection = { [options, environment] in
      options.connection.apply(to: &$0, environment)
      $0.allowsCredentialsInClear = options.inClear
    }
    settings.freezing.maySend = { request in released.withLock { $0.contains(request.id) } }
    if !options.header.isEmpty { settings.freezing.secrets = { [secrets] in secrets.only($0.secretFields) } }
    guard try FrozenHold.isThere(in: settings.directory) else { return nothing() }
    let hold = try FrozenHold(settings, console)
    defer { hold.close() }
    hold.flush()
    let plan = ThawPlan(hold.engine.frozenOperations, options)
    if let problem = plan.problem {
      console.message("netspool: \(problem)")
      return .usage
    }
    for text in plan.notes { console.message("netspool: \(text)") }
    hold.noteOthers(console)
    released.withLock { $0 = Set(plan.ready.map(\.id)) }
    return try send(plan, hold, until: deadline)
  }

  private func nothing() -> JobStatus {
    guard options.ids.isEmpty else {
      console.message("netspool: \(ThawPlan.unknown(options.ids))")
      return .usage
    }
    console.message("netspool: nothing waits")
    return .allDone
  }

  private func send(_ plan: ThawPlan, _ hold: FrozenHold, until deadline: DispatchTime) throws -> JobStatus {
    let engine = hold.engine
    let inbox = Inbox<Event>()
    stop.onPress(drains: true) { inbox.put(.pressed) }
    let (asJSON, print) = (options.json, print)
    try engine.onThawed { outcome in
      do throws(IOFailure) {
        try print(asJSON ? FrozenJSON.outcome(outcome) : Array("\(FrozenText.outcome(outcome))\n".utf8))
      } catch { inbox.put(.unprinted(error)) }
      inbox.put(.ended(outcome.id, isSent: (try? outcome.result.get()) != nil))
    }
    engine.thaw()
    var tally = Tally(dead: hold.damaged.count, left: Set(plan.ready.map(\.id)), held: plan.held.count)
    while !tally.left.isEmpty, stop.status == nil, let event = inbox.next(until: deadline) {
      tally.note(event)
    }
    let waiting = engine.frozenOperations
    engine.shutDownAndWait(deadline: .seconds(Self.graceSeconds))
    while let event = inbox.next(until: .now()) { tally.note(event) }
    for request in waiting where tally.left.contains(request.id) {
      let unknown =
        request.attempts == 0
        ? "not tried yet" : "it went out, and no answer to it has been noted"
      console.message(
        "netspool: \(FrozenText.name(request)) waits: \(FrozenText.trouble(request) ?? unknown)")
    }
    if let failure = tally.failure { console.message("netspool: \(failure)") }
    console.message("netspool: \(summary(tally))")
    return status(tally)
  }

  private func summary(_ tally: Tally) -> String {
    let waiting = tally.left.count + tally.held
    if tally.sent + tally.dead + waiting == 0 { return "nothing waits" }
    var parts = ["\(HumanText.count(tally.sent)) sent"]
    if tally.dead > 0 { parts.append("\(HumanText.count(tally.dead)) dead, see 'frozen list --dead'") }
    if waiting > 0 { parts.append("\(HumanText.count(waiting)) still \(waiting == 1 ? "waits" : "wait")") }
    return parts.joined(separator: ", ")
  }

  private func status(_ tally: Tally) -> JobStatus {
    if let status = stop.status { return status }
    if tally.failure != nil { return .localIO }
    if !tally.left.isEmpty || tally.held > 0 { return .failedForNow }
    return tally.dead > 0 ? .failedForGood : .allDone
  }
}

/// What a `frozen thaw` can send, what not, and why. Pure.
struct ThawPlan {
  private(set) var ready: [FrozenOperation] = []
  /// Chosen, and not to be sent now; with the one that is to blame.
  private(set) var held: [(request: FrozenOperation, behind: FrozenOperation)] = []
  /// Why nothing is done at all.
  private(set) var problem: String?
  private let options: FrozenThawCommand

  init(_ waiting: [FrozenOperation], _ options: FrozenThawCommand) {
    self.options = options
    let chosen = options.ids.isEmpty ? Set(waiting.map(\.id)) : Set(options.ids)
    let missing = chosen.subtracting(waiting.map(\.id))
    if !missing.isEmpty { problem = Self.unknown(missing.sorted()) }
    if let clash = clash(waiting.filter { chosen.contains($0.id) }) { problem = problem ?? clash }
    let line = FrozenLine.split(waiting) { chosen.contains($0.id) && lacks($0).isEmpty }
    ready = line.ready
    held = line.held.filter { chosen.contains($0.request.id) }
  }

  static func unknown(_ ids: [UInt64]) -> String {
    "no request \(FrozenText.list(ids.map { "#\($0)" })) waits; 'netspool frozen list' shows what does"
  }

  /// The secret fields of a request that no `--header` gives.
  private func lacks(_ request: FrozenOperation) -> [String] {
    let given = Set(options.header.map { $0.name.lowercased() })
    return request.secretFields.filter { !given.contains($0.lowercased()) }
  }

  /// A secret is for one origin: another one must never see it.
  private func clash(_ chosen: [FrozenOperation]) -> String? {
    for field in options.header {
      let needy = chosen.filter { Self.needs($0, field) }
      let origins = Set(needy.map { URLText.origin($0.url) }).sorted()
      if origins.count > 1 {
        return
          "\(field.name) is needed for \(FrozenText.list(origins)): name the requests that --header is for, as in "
          + FrozenAdvice.thaw(needy[0], options.place)
      }
    }
    return nil
  }

  /// What the user should know before it begins.
  var notes: [String] {
    var notes = held.map { request, head in
      let needs = lacks(head)
      if head.id != request.id { return "\(FrozenText.name(request)) waits behind #\(head.id) of its lane" }
      if !request.isWithinReach {
        return
          "\(FrozenText.name(request)) was accepted with other --resolve, --connect-to, --unix-socket or -k: give what its post had"
      }
      return
        "\(FrozenText.name(request)) needs \(FrozenText.list(needs)), which \(needs.count == 1 ? "is" : "are") not in "
        + "the store: \(FrozenAdvice.thaw(request, options.place))"
    }
    let all = ready + held.map(\.request)
    for field in options.header where !all.contains(where: { Self.needs($0, field) }) {
      notes.append("no request needs --header \(field.name)")
    }
    return notes
  }

  private static func needs(_ request: FrozenOperation, _ field: HeaderField) -> Bool {
    request.secretFields.contains { $0.lowercased() == field.name.lowercased() }
  }
}
