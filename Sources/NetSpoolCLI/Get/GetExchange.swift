import Glibc
import NetSpool

/// A URL of a `get` or `post`: what is sent is made, where the answer goes is settled here.
struct GetExchange {
  /// Of the last attempt.
  var operation: NetworkOperation
  let engine: NetworkEngine
  let arguments: any ExchangeOptions
  let console: Console
  let stop: StopSwitch
  let asked: Asked
  /// Of all that are asked, from 0.
  let number: Int
  let watch: WireWatch?
  var known = WriteOut.Facts()

  private var options: TargetOptions { arguments.target }

  /// Seconds of a wait that a user is told of.
  private static let longPause: Int64 = 5

  mutating func run() throws -> JobStatus {
    let target = try makeTarget()
    watch?.begin()
    let progress = makeProgress(target)
    let clock = engine.configuration.timeouts.total.map(AttemptClock.init)
    clock?.bound(operation)
    var (result, attempts) = (try exchange(target, progress), 0)
    while case .failure(let error) = result, goesOn(after: error, target) {
      attempts += error.attempts
      let pause = RequestOptions.pause(after: attempts, arguments.request.retryDelay)
      guard attempts <= arguments.request.retries, stop.status == nil, clock?.hasTime(after: pause) ?? true
      else { break }
      operation = operation.again()
      operation.postpone(by: pause)
      clock?.bound(operation, after: pause)
      watch?.begin(isAgain: true)
      result = try exchange(target, progress)
    }
    known.fileName = target.fileName
    return try status(after: result, target)
  }

  /// True if a file's body broke off, which is asked for again: what is long, from its part on.
  private func goesOn(after error: NetworkError, _ target: GetTarget) -> Bool {
    guard operation.request.method == .get, case .none = operation.request.body else { return false }
    return target.isFile && error.brokeOff
  }

  private func exchange(
    _ target: GetTarget, _ progress: ByteProgress?
  ) throws -> Result<NetworkResponse, NetworkError> {
    if let watch { operation.addDownloadStream(watch) }
    let stream = try stream(to: target)
    if !options.head { operation.addDownloadStream(behindHead(stream)) }
    if let progress {
      let (title, file) = (target.fileName?.split(separator: "/").last, stream as? FileDownloadStream)
      operation.addDownloadStream(progress.tap(title.map(String.init) ?? "") { file?.resumedAt ?? 0 })
    }
    if let limit = arguments.request.limitRate { operation.addDownloadStream(ByteBrake(limit)) }
    operation.onAttempt { [isMute = options.isMute] _, error in
      let field = error.response?.headers["Retry-After"]
      guard !isMute, let field, Int64(field).map({ $0 >= Self.longPause }) ?? true else { return }
      Console.standardError().message("netspool: \(error.sentence), and waits for it; --retry 0 does not")
    }
    stop.onPress { [operation] in operation.cancel() }
    if stop.status != nil { operation.cancel() }
    return Result { () throws(NetworkError) in
      if let progress { return try progress.wait(for: operation, on: engine) }
      return try engine.wait(for: operation)
    }
  }

  /// What `--write-out` may tell.
  func facts(_ status: JobStatus) -> WriteOut.Facts {
    var facts = known
    facts.exitStatus = status
    if let watch { facts.wire = watch.seen }
    (facts.url, facts.method, facts.number) = (operation.request.url, "\(operation.request.method)", number)
    return facts
  }

  private mutating func status(after result: Result<NetworkResponse, NetworkError>, _ target: GetTarget)
    throws -> JobStatus
  {
    switch result {
    case .success(let response):
      watch?.received(response)
      known.response = response
      if let path = options.etagSave, response.status != 304 {
        try EntityTag.save(response.headers, to: path)
      }
      try writeUnstreamed(response, target)
      if options.remoteTime, let path = target.fileName, condition?.holds(response.headers) ?? true {
        FileTime.set(path, response.headers)
      }
      return .allDone
    case .failure(let error):
      if let response = error.response { watch?.received(response) }
      (known.response, known.error) = (error.response, error)
      return try status(of: error, target)
    }
  }

  /// Streams see the body of a status of 200 to 299. What else came, the head alone and what follows a body is here.
  private func writeUnstreamed(_ response: NetworkResponse, _ target: GetTarget, keepsBody: Bool = true)
    throws
  {
    let showsHead = options.include || options.head
    if !options.head, (200..<300).contains(response.status) {
      let trailers = options.include ? HeadText.lines(response.trailers) : []
      return trailers.isEmpty ? () : try target.append(trailers)
    }
    let bytes = (showsHead ? watch?.take() ?? [] : []) + (keepsBody ? [UInt8](response.body) : [])
    if !bytes.isEmpty { try target.publish(bytes) }
  }

  private mutating func status(of error: NetworkError, _ target: GetTarget) throws -> JobStatus {
    if let status = stop.status { return status }
    if error.code == .sinkFailed {
      // The reader has what it wanted, as in `| head`.
      if error.errno != EPIPE { say(FailureAdvice.ofWriting(error, to: target.fileName)) }
      return .localIO
    }
    let keepsBody = options.keepsErrors(isFile: target.isFile)
    if let response = error.response, error.code == .status || error.code == .authenticationFailed {
      if keepsBody || !target.isFile { try writeUnstreamed(response, target, keepsBody: keepsBody) }
    } else if let heads = watch?.take(), options.include || options.head, !target.isFile, !heads.isEmpty {
      // Of what did not lead to an answer.
      try target.publish(heads)
    }
    say(FailureAdvice.text(error, proxyKnowsUser: arguments.connection.namesProxyUser(.process)))
    if error.isOfCommandLine { return .usage }
    let local: Set<NetworkError.Code> = [
      .uploadSourceFailed, .uploadLengthMismatch, .tooManyOpenFiles, .outOfMemory, .storageFull,
    ]
    return local.contains(error.code) ? .localIO : .failedForGood
  }

  private func say(_ text: String) { if !options.isMute { console.message("netspool: \(text)") } }

  /// Shows a user at a terminal how far a body is that goes to a file; one on standard output is seen itself.
  private func makeProgress(_ target: GetTarget) -> ByteProgress? {
    let isWanted = target.isFile && !options.silent && !options.noProgressMeter && !options.head
    return isWanted && console.isTerminal ? ByteProgress(console) : nil
  }

  private var condition: TimeCondition? { options.timeCond.map(TimeCondition.init) }

  private func stream(to target: GetTarget) throws -> any DownloadStream {
    guard case .byte(let start)? = options.resumption else {
      return target.stream(partBytesMin: partBytesMin)
    }
    guard let path = target.fileName else { throw Mistake("--continue-at goes on writing a file") }
    operation.setHeader("Range", "bytes=\(start)-")
    return HeadStream { head in
      // A server that sends the whole does not know ranges; one that sends less leaves a file that is not whole.
      guard head.status == 206 ? head.headers.tellsRest(from: start) : start == 0 else {
        throw Mistake("the server does not send the rest from byte \(start) on")
      }
      return FileDownloadStream(path: path, append: true, digests: false)
    }
  }

  /// With `-i` the heads before the body; with `-z` nothing of an answer that is not what was asked for.
  private func behindHead(_ stream: any DownloadStream) -> any DownloadStream {
    let (condition, heads) = (condition, options.include ? watch : nil)
    if condition == nil, heads == nil { return stream }
    return HeadStream(prefix: { heads?.take() ?? [] }) { head in
      condition?.holds(head.headers) ?? true ? stream : nil
    }
  }

  /// How long a body must be for a part to be kept of it; nil: none is.
  private var partBytesMin: Int64? {
    if options.resumption == .part { return 0 }
    let request = operation.request
    if options.timeCond != nil { return nil }
    let mayGoOn = request.method == .get && !request.headers.contains("Range") && !options.include
    return mayGoOn && options.continues ?? true ? FilePart.bytesMin : nil
  }

  private func makeTarget() throws -> GetTarget {
    let folder = options.outputDir.map { $0.hasSuffix("/") ? $0 : $0 + "/" } ?? ""
    let place = options.place(of: asked.argument)
    if let name = place, name != TargetOptions.remoteName {
      if name == "-" { return try GetTarget(name) }
      let name = URLGlob.filled(name, asked.parts)
      let path = try unclobbered(name.hasPrefix("/") ? name : folder + name)
      if options.createDirs, let slash = path.lastIndex(of: "/") {
        try OutputFolder.make(String(path[...slash]))
      }
      return try GetTarget(path)
    }
    if place == nil { return try GetTarget(nil) }
    if options.createDirs { try OutputFolder.make(folder) }
    let name = OutputName.remote(operation.request.url)
    if options.remoteHeaderName { return GetTarget(in: folder, fallback: name ?? OutputName.fallback) }
    guard let name else {
      throw Mistake("\(URLText.masked(operation.request.url)) ends without a file's name: -o gives one")
    }
    return try GetTarget(try unclobbered(folder + name))
  }

  /// With `--no-clobber` the first of `name`, `name.1`, ... `name.100` that is not there, as with curl.
  private func unclobbered(_ path: String) throws(IOFailure) -> String {
    guard options.noClobber, FileFacts(path: path) != nil else { return path }
    let free = (1...100).lazy.map { "\(path).\($0)" }.first { FileFacts(path: $0) == nil }
    guard let free else { throw IOFailure(action: "write over", path: path, code: EEXIST) }
    return free
  }
}

enum FileTime {
  /// Gives a file the time of `Last-Modified`; one that cannot be set stays as it is.
  static func set(_ path: String, _ headers: NetworkRequest.Headers) {
    guard let date = headers["Last-Modified"].flatMap({ HTTPDate.written($0) }) else { return }
    let time = timespec(tv_sec: Int(date), tv_nsec: 0)
    let both = [time, time]
    _ = unsafe utimensat(AT_FDCWD, path, both, 0)
  }
}
