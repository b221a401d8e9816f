import NetSpool

/// What a `frozen thaw` can send, what not, and why. Pure.
struct ThawPlan {
  private(set) var ready: [FrozenOperation] = []
  /// Chosen, and not to be sent now; with the one that is to blame.
  private(set) var held: [(request: FrozenOperation, behind: FrozenOperation)] = []
  /// Why nothing is done at all.
  private(set) var problem: String?
  private let options: ThawOptions

  init(_ waiting: [FrozenOperation], _ options: ThawOptions) {
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
      let needy = chosen.filter { request in
        request.secretFields.contains { $0.lowercased() == field.name.lowercased() }
      }
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
      return
        "\(FrozenText.name(request)) needs \(FrozenText.list(needs)), which \(needs.count == 1 ? "is" : "are") not in "
        + "the store: \(FrozenAdvice.thaw(request, options.place))"
    }
    for field in options.header where !isUsed(field) {
      notes.append("no request needs --header \(field.name)")
    }
    return notes
  }

  private func isUsed(_ field: HeaderField) -> Bool {
    (ready + held.map(\.request)).contains { request in
      request.secretFields.contains { $0.lowercased() == field.name.lowercased() }
    }
  }
}
