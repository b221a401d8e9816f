import NetSpool
import Synchronization

/// The exchanges of one command line, one after the other: a `get`, or a `post` that is not frozen.
struct GetRun {
  let options: any ExchangeOptions
  let console: Console
  let stop: StopSwitch
  var environment = Environment.process

  /// Throws `NetworkError` for settings that the library refuses, `IOFailure`, and `StoreFailure`.
  func run() throws -> JobStatus {
    try options.target.redirectMessages()
    let draft = try RequestDraft(options, console)
    let archive = try options.words.curl ? nil : options.target.har.map(HARWriter.init)
    var configuration = try configuration(draft)
    let watch = try options.words.curl ? nil : WireWatch.wanted(by: options.target)
    configuration.onEnd = archive?.record(configuration.headers, watch)
    if let watch { configuration.onWire = { watch.saw($0) } }
    let engine = try NetworkEngine(configuration: configuration)
    let status = try run(engine, draft, watch)
    if let failure = archive?.close() { throw failure }
    return status
  }

  private func run(_ engine: NetworkEngine, _ draft: RequestDraft, _ watch: WireWatch?) throws -> JobStatus {
    defer {
      engine.configuration.queue.close()
      engine.closeCache()
    }
    try options.account.requireScope(for: options.words.arguments)
    let book = try options.account.book(environment)
    let writeOut = try WriteOut(options.target.writeOut)
    for name in writeOut?.unknown ?? [] {
      console.message("netspool: --write-out knows no %{\(name)}: it stays empty")
    }
    if !options.words.curl, let cache = try options.cacheSettings(environment) {
      try engine.useCache(cache, clock: nil, console: console)
    }
    var status = JobStatus.allDone
    for (number, asked) in options.asked.enumerated() {
      let operation = makeOperation(asked.url, asked.argument, engine, draft, book)
      if options.words.curl {
        try printCommand(operation, asked.argument, draft)
        continue
      }
      var exchange = GetExchange(
        operation: operation, engine: engine, arguments: options, console: console, stop: stop, asked: asked,
        number: number, watch: watch)
      let end = try exchange.run()
      if let failure = watch?.failure { throw failure }
      try tell(exchange.facts(end), writeOut)
      if status == .allDone || end.isSignal { status = end }
      if end.isSignal { break }
    }
    if !options.words.curl, let jar = options.cookies.cookieJar {
      try CookieFile.write(engine.cookieLines, to: jar)
    }
    return status
  }

  private func configuration(_ draft: RequestDraft) throws -> NetworkEngine.Configuration {
    var configuration = options.request.engineConfiguration
    options.connection.apply(to: &configuration, environment)
    configuration.omittedFields = draft.omitted
    try options.cookies.apply(to: &configuration)
    configuration.queue = try NetworkQueue()
    configuration.delivery = .loopThread
    configuration.allowsCredentialsInClear = options.account.inClear
    configuration.receiveBufferBytes = 256 << 10
    // A body that keeps coming is given up only where somebody said so: a file may be as long as the disk.
    if options.request.timeout == nil { configuration.timeouts.attempt = nil }
    return configuration
  }

  private func makeOperation(
    _ url: String, _ number: Int, _ engine: NetworkEngine, _ draft: RequestDraft, _ book: CredentialBook
  ) -> NetworkOperation {
    var request = draft.request(for: url, number)
    options.finish(&request)
    let operation = engine.operation(request)
    let who = book.credentials(for: url, beside: options.connection.certificate)
    if let who { operation.setCredentials(who) }
    return operation
  }

  private func printCommand(_ operation: NetworkOperation, _ number: Int, _ draft: RequestDraft) throws {
    let command = operation.curlCommand(revealingSecrets: true)
    // What cannot be sent is a comment that says why.
    if command.hasPrefix("# ") { throw Mistake(String(command.dropFirst(2))) }
    let words = CurlWords.of(NetSpoolTool.words.withLock(\.self), for: number, omitted: draft.omitted).map(
      ResumeCommand.quoted)
    try StandardOutput.write("\(([command] + words).joined(separator: " "))\n")
  }

  private func tell(_ facts: WriteOut.Facts, _ writeOut: WriteOut?) throws(IOFailure) {
    guard let text = writeOut?.text(facts) else { return }
    if !text.output.isEmpty { try StandardOutput.write(text.output) }
    if !text.errors.isEmpty {
      try? Descriptor(borrowing: 2, named: "standard error").write(Array(text.errors.utf8))
    }
  }
}
