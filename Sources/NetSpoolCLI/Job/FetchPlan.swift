/// Turns the list's lines to things to fetch: names them, drops repeats, other shards' lines and what an
/// earlier run finished, and counts all of it.
final class FetchPlan {
  enum Step: Equatable {
    case fetch(FetchItem)
    /// The line asks for nothing new; already counted.
    case skipped
    case broken(BrokenLine)
    case starved
    case end
  }

  /// What the plan is made for.
  struct Options {
    var shard = Shard.whole
    /// Whether bodies go to files, so that lines need names.
    var namesOutputs = false
    /// Whether the ledger has marks of an earlier run.
    var resumes = false
    /// Whether a finished file is still there; asked only for lines that an earlier run finished.
    var holdsOutput: (String) -> Bool = { _ in true }
    /// Whether a name in the output folder is a file of the job's own, which no body may overwrite.
    var isProtected: (String) -> Bool = { _ in false }
  }

  let list: ListReader
  private(set) var tally = ListTally()
  private let ledger: Ledger
  private let names: OutputNames
  private let options: Options
  private var nextID = 0

  /// - Parameter ledger: with the marks of `ResultsReader.markDone`, if the job is resumed.
  init(list: ListReader, ledger: Ledger, options: Options = Options()) {
    self.list = list
    self.ledger = ledger
    self.options = options
    names = OutputNames(ledger: ledger, isProtected: options.isProtected)
  }

  func next() throws(IOFailure) -> Step {
    switch try list.next() {
    case .starved: return .starved
    case .end: return .end
    case .broken(let line):
      tally.lines += 1
      tally.broken += 1
      return .broken(line)
    case .item(let item):
      tally.lines += 1
      return try step(item)
    }
  }

  /// Names come before shards: a name depends on the whole list, so shards that write to one shared folder
  /// never give one name to two URLs.
  private func step(_ item: ListItem) throws(IOFailure) -> Step {
    if !options.namesOutputs && !options.shard.contains(item.url) { return otherShard() }
    let wanted = options.namesOutputs ? wantedName(item) : nil
    guard try ledger.insert(Fingerprint(.line, item.url, wanted ?? "")) == nil else {
      tally.duplicates += 1
      return .skipped
    }
    let output = try wanted.map { wanted throws(IOFailure) in try names.claim(wanted) }
    guard options.shard.contains(item.url) else { return otherShard() }
    if output != wanted { tally.renamed += 1 }
    return try isDone(item.url, output) ? doneBefore() : fetch(item.url, output)
  }

  private func wantedName(_ item: ListItem) -> String {
    item.name.flatMap(OutputName.fromList) ?? OutputName.fromURL(item.url)
  }

  private func isDone(_ url: String, _ output: String?) throws(IOFailure) -> Bool {
    guard options.resumes, try ledger.value(Fingerprint(.done, url, output ?? "")) != nil else {
      return false
    }
    return output.map(options.holdsOutput) ?? true
  }

  private func otherShard() -> Step {
    tally.otherShards += 1
    return .skipped
  }

  private func doneBefore() -> Step {
    tally.resumed += 1
    return .skipped
  }

  private func fetch(_ url: String, _ output: String?) -> Step {
    defer { nextID += 1 }
    return .fetch(FetchItem(id: nextID, url: url, output: output))
  }
}
