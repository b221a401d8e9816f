/// Turns the list's lines to things to fetch: names them, drops repeats, other shards' lines and what an
/// earlier run finished, and counts all of it.
final class FetchPlan {
  enum Step: Equatable {
    case fetch(FetchItem)
    /// The line asks for nothing new; already counted.
    case skipped
    case broken(BrokenLine)
    case changed(ListChange)
    case starved
    case end
  }

  struct Options {
    var shard = Shard.whole
    /// True if bodies go to files, so that lines need names.
    var namesOutputs = false
    /// True if answers name files, where lines do not.
    var namesLate = false
    var tree = OutputTree.flat
    /// What names from URLs end with, in place of a picture's own ending: `webp`.
    var ending: String?
    /// What is made of each body, as results have it; nil where it stays as it is.
    var transform: String?
    /// True if bodies go to a tar: names are unique up to their first dot, and what the ledger has is done.
    var namesSamples = false
    /// True if a line whose file is there is done.
    var skipsExisting = false
    /// True if the ledger has marks of an earlier run.
    var resumes = false
    /// How long a file in the output folder is, nil if there is none; asked only for lines that may be done.
    var bytesOfOutput: (String) -> Int64? = { _ in nil }
    /// True if a name in the output folder is a file of the job's own, which no body may overwrite.
    var isProtected: (String) -> Bool = { _ in false }
  }

  let list: ListReader
  private(set) var tally = ListTally()
  private let ledger: Ledger
  let names: OutputNames
  private let options: Options
  private var nextID = 0

  /// - Parameter ledger: with the marks of `ResultsReader.markDone`, if the job is resumed.
  init(list: ListReader, ledger: Ledger, options: Options = Options()) {
    (self.list, self.ledger, self.options) = (list, ledger, options)
    names = OutputNames(ledger: ledger, isProtected: options.isProtected)
  }

  func next() throws(IOFailure) -> Step {
    switch try list.next() {
    case .starved: return .starved
    case .end: return .end
    case .changed(let change): return .changed(change)
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
    // What differs in the fragment alone is one URL.
    let url = URLText.withoutFragment(item.url)
    if !options.namesOutputs && !options.shard.contains(url) { return Self.skipped(&tally.otherShards) }
    let wanted = options.namesOutputs && !(options.namesLate && item.name == nil) ? wantedName(item) : nil
    let asked = [wanted ?? ""] + item.options.demands
    guard try ledger.insert(Fingerprint(.line, url, asked.joined(separator: "\t"))) == nil else {
      return Self.skipped(&tally.duplicates)
    }
    let output = try wanted.map { wanted throws(IOFailure) in try claim(wanted, for: item.url) }
    guard options.shard.contains(url) else { return Self.skipped(&tally.otherShards) }
    if output != wanted { tally.renamed += 1 }
    var isDone = options.skipsExisting && output.flatMap(options.bytesOfOutput) != nil
    if !isDone { isDone = try self.isDone(item, output) }
    if isDone { return Self.skipped(&tally.resumed) }
    defer { nextID += 1 }
    return .fetch(FetchItem(id: nextID, url: item.url, output: output, options: item.options))
  }

  private func wantedName(_ item: ListItem) -> String {
    if let name = item.name.flatMap(OutputName.fromList) { return name }
    let name = options.tree.name(of: item.url)
    return options.ending.map { OutputName.picture(name, ending: $0) } ?? name
  }

  private func claim(_ wanted: String, for url: String) throws(IOFailure) -> String {
    guard options.namesSamples else { return try names.claim(wanted, for: url) }
    let name = SampleName(wanted: wanted)
    var key = OutputName.cut(name.key, to: SampleName.keyBytesMax)
    // Version 0.1.0 put longer ones into its tars.
    if key != name.key, try ledger.value(Fingerprint(.done, url, name.key)) != nil { key = name.key }
    key = try names.claim(key, for: url)
    return name.ending.isEmpty ? key : "\(key).\(name.ending)"
  }

  /// An earlier run finished it and made of it what this one would, and its file is still there and as long as it was then.
  private func isDone(_ item: ListItem, _ output: String?) throws(IOFailure) -> Bool {
    let url = item.url
    if options.namesSamples, let output {
      return try ledger.value(Fingerprint(.done, url, SampleName(output).key)) != nil
    }
    guard options.resumes, let bytes = try ledger.value(Fingerprint(.done, url, output ?? "")),
      try ledger.value(Fingerprint(.made, url, output ?? "")) ?? 0 == Ledger.value(text: options.transform)
    else { return false }
    if let digest = item.options.sha256,
      try ledger.value(Fingerprint(.digest, url, output ?? "")) != Ledger.value(text: digest)
    {
      return false
    }
    guard let output else { return true }
    return options.bytesOfOutput(output).map(Ledger.value(bytes:)) == bytes
  }

  private static func skipped(_ count: inout Int) -> Step {
    count += 1
    return .skipped
  }
}

/// A token bucket: `--rate` has one of the starts of fetches, `--limit-rate` one of bytes. Time comes from outside, in nanoseconds.
struct RateLimiter: Equatable, Sendable {
  let perSecond: Double
  /// How many there are at once after a pause: a tenth of a second's worth, at least one.
  let burst: Double
  private var tokens: Double
  private var lastRefill: Int64?

  init(perSecond: Double) {
    self.perSecond = perSecond
    burst = max(1, perSecond / 10)
    tokens = burst
  }

  /// `50`, `50/s`, `30/m` or `10/h`.
  init?(_ text: String) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    let units: [Substring: Double] = ["s": 1, "m": 60, "min": 60, "h": 3_600]
    guard parts.count <= 2, let (amount, unit) = splitAmount(String(parts[0])), unit.isEmpty,
      let seconds = units[parts.count == 2 ? parts[1] : "s"]
    else { return nil }
    let perSecond = amount / seconds
    guard perSecond >= 1 / 86_400, perSecond <= 1e6 else { return nil }
    self.init(perSecond: perSecond)
  }

  /// Takes one start if there is one; else the nanoseconds until there will be.
  mutating func take(now: Int64) -> Int64? {
    refill(now)
    guard tokens < 1 else {
      tokens -= 1
      return nil
    }
    return max(1, Int64(((1 - tokens) / perSecond * 1e9).rounded(.up)))
  }

  mutating func take(upTo count: Int, now: Int64) -> Int {
    refill(now)
    let taken = min(count, Int(tokens))
    tokens -= Double(taken)
    return taken
  }

  private mutating func refill(_ now: Int64) {
    let elapsed = Double(max(0, now - (lastRefill ?? now))) / 1e9
    tokens = min(burst, tokens + elapsed * perSecond)
    // Of two threads the one that has looked at the clock first may come last.
    lastRefill = max(now, lastRefill ?? now)
  }
}

/// `--max-errors`: how many failures the job puts up with before it stops.
enum ErrorBudget: Equatable, Sendable {
  case unlimited
  /// Stops with the failure after this many; 0 stops at the first.
  case count(Int)
  /// Stops once more than this part of what is finished has failed, judged from `percentFloor` on and at the end.
  case percent(Double)

  static let percentFloor = 100

  /// `20` or `5%`.
  init?(_ text: String) {
    guard let (amount, unit) = splitAmount(text) else { return nil }
    switch unit {
    case "": if let count = Int(text) { self = .count(count) } else { return nil }
    case "%": if amount <= 100 { self = .percent(amount) } else { return nil }
    default: return nil
    }
  }

  func isSpent(failed: Int, finished: Int, atEnd: Bool = false) -> Bool {
    switch self {
    case .unlimited: false
    case .count(let limit): failed > limit
    case .percent(let limit):
      (atEnd || finished >= Self.percentFloor) && Double(failed) * 100 > limit * Double(finished)
    }
  }
}
