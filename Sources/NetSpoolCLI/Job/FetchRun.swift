import Glibc

/// Assembles one `fetch` from its options, runs it, and says how it ended.
///
/// Everything that can be found wrong before the first request is found here: lists that cannot be read,
/// files that cannot be written, an output that would overwrite a list.
struct FetchRun {
  let options: FetchCommand
  let console: Console
  var environment = Environment.process
  /// The command line without the program's name, to print the command that resumes.
  var arguments: [String] = []
  let stop: StopSwitch
  let reactor: any Reactor
  /// The cache's clock, in milliseconds since 1970; nil is the system's.
  var cacheClock: (@Sendable () -> Int64)?
  let board = TransferBoard()
  var onEnd: (FetchJob.End) -> Void = { _ in }

  /// Makes the network part. Called once, after the list is known to be in order and before any file is written; it
  /// gets the folder for outputs, which exists then.
  typealias MakeFetcher = (FetchCommand, EngineFetcher.Destination?) throws -> any Fetcher

  func run(makeFetcher: MakeFetcher) -> JobStatus {
    do { return try assembled(makeFetcher) } catch let failure as IOFailure {
      // The reader has what it wanted, as in `| head`.
      if failure.code != EPIPE { console.message("netspool: \(failure)") }
      return .status(of: failure)
    } catch {
      let advice = error is StoreFailure ? "; --no-cache fetches without it" : ""
      console.message("netspool: \(FailureAdvice.sentence(error))\(advice)")
      return .status(of: error)
    }
  }

  private func assembled(_ makeFetcher: MakeFetcher) throws -> JobStatus {
    let sources = ListSource.sources(of: options.sources)
    for case .file(let path) in sources { try requireList(path) }
    let list = try ListReader(sources, isGlobOff: options.globoff)
    try refuseToOverwrite(list)
    let ledger = Ledger(directory: Ledger.temporaryDirectory(environment))
    let isFresh = options.output.map(LandingFolder.isEmpty) ?? false
    // A dry run looks at the folder if it is there, and makes none.
    let isThere = options.output.flatMap { FileFacts(path: $0) }?.isDirectory == true
    let output = options.dryRun && !isThere ? nil : options.output
    let folder =
      try options.writesTar
      ? nil : output.map { try OutputFolder(path: $0, isReadOnly: options.dryRun) }
    let tar = try folder == nil ? output.map { try ShardedOutput($0, limit: options.shardSize, ledger) } : nil
    defer { tar?.close() }
    let plan = try FetchPlan(list: list, ledger: ledger, options: planOptions(folder, list))
    if options.dryRun {
      try markDone(ledger, folder)
      return try printPlan(plan)
    }
    let named = try options.namesLate ? folder.map { try NamedFolder($0, plan.names) } : nil
    defer { named?.bodies.remove() }
    // Before the outputs: a cache that cannot be opened must not cost an earlier run's results.
    let landing = tar?.bodies ?? named?.bodies
    let fetcher = try makeFetcher(options, landing.map { .landing($0) } ?? folder.map { .folder($0) })
    let fetched = Result {
      var outputs = try makeOutputs(ledger, tar, named.flatMap { _ in folder })
      if let named { outputs.place = named }
      ResidentMemory.shrink()
      let counter = makeCounter()
      defer { counter?.stop() }
      return FetchJob(
        plan: plan, settings: settings, outputs: outputs, counter: counter,
        around: .init(fetcher: fetcher, reactor: reactor, stop: stop, reporter: reporter)
      ).run()
    }
    let lost = fetcher.close()
    if let lost { console.message("netspool: \(lost)") }
    var end = try fetched.get()
    if lost != nil { end.status = .localIO }
    onEnd(end)
    return try report(end, isFresh: isFresh)
  }

  private var settings: FetchJob.Settings {
    FetchJob.Settings(
      window: FetchJob.window(
        for: options.jobs, isBraked: options.request.limitRate != nil || options.pictures.maxSide != nil),
      budget: options.maxErrors ?? .unlimited, rate: options.rate,
      hostRates: options.perHostRate.map { HostRates(perSecond: $0.perSecond) },
      named: Set(options.sources.filter(URLText.looksLikeURL)))
  }

  /// Made only where its total is shown; what goes to other shards is in no total.
  private func makeCounter() -> LineCounter? {
    guard !isSilent, options.shard == nil, !options.sources.contains("-") else { return nil }
    let urls = options.sources.filter(URLText.looksLikeURL)
    let count = urls.reduce(0) { $0 &+ URLGlob($1, isOff: options.globoff).count }
    return LineCounter(paths: options.sources.filter { !URLText.looksLikeURL($0) }, extra: count)
  }

  private var style: ProgressMode.Style {
    options.progress.style(isTerminal: console.isTerminal, isQuiet: options.quiet)
  }

  /// The bodies on their way are not shown.
  var isSilent: Bool { style == .silent }

  private var reporter: JobReporter {
    let painter = ProgressPainter(
      style: style, console: console, isColoured: console.isTerminal && environment["NO_COLOR"] == nil,
      board: board, now: reactor.now)
    return JobReporter(console: console, painter: painter, isQuiet: options.quiet)
  }

  // MARK: Files

  /// Says what helps where a URL was meant, or a folder named.
  private func requireList(_ path: String) throws(Mistake) {
    let facts = FileFacts(path: path)
    if facts?.isDirectory == true { throw Mistake("\(path) is a folder: name a list in it") }
    guard facts == nil, let meant = URLText.meant(path) else { return }
    throw Mistake("there is no list '\(path)'; did you mean the URL '\(meant)'?", .localIO)
  }

  private func refuseToOverwrite(_ list: ListReader) throws(Mistake) {
    let outputs = [
      ("--results", options.results), ("--failed", options.failed), ("--har", options.har),
    ]
    for case (let option, .some(let path)) in outputs {
      guard let status = FileFacts(path: path), list.files.contains(where: status.isSameFile) else {
        continue
      }
      throw Mistake("\(option) \(path) is also the list; it would be overwritten")
    }
    let tar = options.writesTar ? NamedOutput("--output", options.output) : nil
    if let sentence = NamedOutput.clash(outputs.map { NamedOutput($0.0, $0.1) } + [tar]) {
      throw Mistake(sentence)
    }
  }

  private func planOptions(_ folder: OutputFolder?, _ list: ListReader) throws(Mistake) -> FetchPlan.Options {
    var plan = FetchPlan.Options(
      shard: try shard(), namesOutputs: options.output != nil, namesLate: options.namesLate,
      tree: options.tree, ending: options.pictures.maxSide.map { _ in options.pictures.format.ending },
      transform: options.pictures.transformText, namesSamples: options.writesTar,
      skipsExisting: options.skipExisting, resumes: options.resume)
    if let folder {
      plan.bytesOfOutput = folder.bytes
      plan.isProtected = { [lists = list.files, options] name in
        guard let there = FileFacts(path: folder.path + name) else { return false }
        let written = [options.results, options.failed, options.har].compactMap {
          $0.flatMap { FileFacts(path: $0) }
        }
        return (lists + written).contains(where: there.isSameFile)
      }
    }
    return plan
  }

  private func shard() throws(Mistake) -> Shard {
    if let shard = options.shard { return shard }
    guard let assigned = try Shard.assigned(environment) else { return .whole }
    if !options.quiet {
      console.message("shard \(assigned.shard.index)/\(assigned.shard.count), from \(assigned.origin)")
    }
    return assigned.shard
  }

  /// - Parameter named: the folder whose files answers name.
  private func makeOutputs(_ ledger: Ledger, _ tar: ShardedOutput?, _ named: OutputFolder?) throws(IOFailure)
    -> FetchJob.Outputs
  {
    var outputs = FetchJob.Outputs(place: tar)
    if let path = options.results { outputs.results = try makeResults(path, ledger, tar, named) }
    if let path = options.failed { outputs.failed = try OutputFile.create(path) }
    return outputs
  }

  private func makeResults(_ path: String, _ ledger: Ledger, _ tar: ShardedOutput?, _ named: OutputFolder?)
    throws(IOFailure) -> OutputFile
  {
    // Locked before it is read: what another process adds to it meanwhile would be cut off.
    let file = try OutputFile.create(path, keeping: options.resume)
    guard options.resume else { return file }
    guard let tar else {
      try file.resume(after: try ResultsReader.markDone(in: path, ledger, named))
      return file
    }
    try file.resume(after: try ResultsReader.markWritten(in: path, ledger))
    try tar.addLines(to: file, ledger)
    return file
  }

  /// Marks what earlier runs have done, as far as their files tell, and writes to none of them.
  private func markDone(_ ledger: Ledger, _ folder: OutputFolder?) throws(IOFailure) {
    if options.writesTar, let tar = options.output {
      try ShardedOutput.mark(tar, limit: options.shardSize, ledger)
    } else if options.resume, let path = options.results {
      _ = try ResultsReader.markDone(in: path, ledger, options.namesLate ? folder : nil)
    }
  }

  // MARK: The end

  private func report(_ end: FetchJob.End, isFresh: Bool) throws(IOFailure) -> JobStatus {
    if !options.quiet { console.message(end.summary.text) }
    // Where the disk is full, or all is done, going on is of no use.
    if end.isPartial, end.left?.hasPrefix("0 ") != true, end.status != .localIO, !options.quiet {
      if let left = end.left { console.message("left: \(left)") }
      let command = ResumeCommand.text(arguments, options, done: end.doneNamed, isFresh: isFresh)
      let input = options.sources.contains("-") ? ", with the same list on standard input" : ""
      let secrets = command.contains(Secrets.mask) ? ", with your secrets in place of \(Secrets.mask)" : ""
      console.message("to go on\(input)\(secrets): \(command)")
    }
    if options.output == nil, end.summary.done > 0, !options.quiet { console.message(whereabouts) }
    if options.json { try StandardOutput.write(end.summary.json(exitStatus: end.status)) }
    return end.status
  }

  /// Where bodies are that went to no file.
  private var whereabouts: String {
    guard !options.cache.noCache, let path = options.cache.place.path(environment) else {
      return "the bodies were read and dropped; --output names a folder for them"
    }
    return "what may be kept of it is in the cache, \(path); --output writes files"
  }

  /// `--dry-run`: prints what would be fetched, as a list that `fetch` can read.
  private func printPlan(_ plan: FetchPlan) throws(IOFailure) -> JobStatus {
    stop.onPress(reactor.wake)
    let output = try OutputFile.create("-")
    var hasChanged = false
    while true {
      if let status = stop.status { return status }
      switch try plan.next() {
      case .fetch(let item): try output.write(url: item.url, output: item.output)
      case .broken(let line): console.message(line.description)
      case .changed(let change):
        hasChanged = true
        console.message("netspool: \(change)")
      case .skipped: continue
      case .starved: reactor.wait(input: plan.list.waitingFor, timeout: nil)
      case .end:
        try output.flush()
        let resumed = plan.tally.resumed
        if resumed > 0, !options.quiet {
          console.message("\(HumanText.plural(resumed, "line is", "lines are")) done before, and left out")
        }
        if hasChanged { return .localIO }
        return plan.tally.broken > 0 ? .failedForGood : .allDone
      }
    }
  }
}

extension FetchJob {
  /// Enough lines inside the queue that a slow origin at the head of the list does not hold up the others.
  ///
  /// With `--limit-rate` every one of them may have a megabyte waiting for the brake, and with `--thumbnail` a picture
  /// waiting for a decoder, so there are few.
  static func window(for jobs: Jobs, isBraked: Bool = false) -> Int {
    switch jobs {
    case _ where isBraked: 32
    case .auto: 1_024
    case .fixed(let count): max(512, min(4_096, count * 4))
    }
  }
}
