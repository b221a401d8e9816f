import NetSpool

/// A store of frozen requests as `netspool frozen` sees it, when nothing is to be sent. A folder without one stays
/// without one.
struct FrozenKeeper {
  let place: FrozenPlace
  let console: Console
  var environment = Environment.process
  var print: ([UInt8]) throws(IOFailure) -> Void = StandardOutput.write

  /// What waits.
  func waiting() throws -> [FrozenOperation] { try withStore { $0.engine.frozenOperations } ?? [] }

  func list(dead: Bool, asJSON: Bool) throws -> JobStatus {
    let (waiting, letters) = try withStore { ($0.engine.frozenOperations, $0.engine.deadLetters) } ?? ([], [])
    let now = WallTime.now
    if asJSON {
      try print(dead ? letters.flatMap(FrozenJSON.dead) : waiting.flatMap(FrozenJSON.waiting))
    } else if dead {
      try print(Array((letters.isEmpty ? "no dead letters\n" : FrozenText.dead(letters, now: now)).utf8))
    } else {
      try print(Array((waiting.isEmpty ? "nothing waits\n" : FrozenText.waiting(waiting, now: now)).utf8))
      if !letters.isEmpty { console.message("netspool: \(deadLetters(letters.count))") }
    }
    return .allDone
  }

  private func deadLetters(_ count: Int) -> String {
    "\(HumanText.count(count)) dead \(count == 1 ? "letter" : "letters"): "
      + FrozenAdvice.command(["list", "--dead"], place)
  }

  /// - Parameter ids: nil is all.
  func revive(_ ids: [UInt64]?) throws -> JobStatus {
    try change(ids, among: { $0.engine.deadLetters.map(\.id) }) { hold, id in
      do throws(NetworkError) {
        try hold.engine.revive(id: id)
      } catch { return "there is no dead letter #\(id) whose request is still there" }
      hold.settle()
      try print(Array("revived #\(id)\n".utf8))
      return nil
    }
  }

  /// - Parameter ids: nil is all.
  func drop(_ ids: [UInt64]?) throws -> JobStatus {
    try change(ids, among: Self.everything) { hold, id in
      guard Self.everything(hold).contains(id) else { return "there is no request #\(id)" }
      // One that waits becomes a dead letter first.
      if hold.engine.cancelFrozen(id: id) { hold.settle() }
      hold.engine.discardDeadLetter(id: id)
      hold.settle()
      try print(Array("dropped #\(id)\n".utf8))
      return nil
    }
  }

  private static func everything(_ hold: FrozenHold) -> [UInt64] {
    hold.engine.frozenOperations.map(\.id) + hold.engine.deadLetters.map(\.id)
  }

  /// - Parameter body: does it to one, or says why not.
  private func change(
    _ ids: [UInt64]?, among all: (FrozenHold) -> [UInt64], _ body: (FrozenHold, UInt64) throws -> String?
  ) throws -> JobStatus {
    let problems = try withStore { hold in
      try (ids ?? all(hold)).compactMap { id in try body(hold, id) }
    }
    let refused = problems ?? (ids ?? []).map { "there is no request #\($0)" }
    for problem in refused { console.message("netspool: \(problem)") }
    return refused.isEmpty ? .allDone : .failedForGood
  }

  /// Nil when there is no store. What a process left in the middle of being sent has been decided.
  private func withStore<Result>(_ body: (FrozenHold) throws -> Result) throws -> Result? {
    let settings = try FrozenSettings(place, environment)
    guard try FrozenFiles.hasStore(in: settings.directory) else { return nil }
    let hold = try FrozenHold(settings, console)
    defer { hold.close() }
    hold.settle()
    return try body(hold)
  }
}
