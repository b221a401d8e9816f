import Glibc
import NetSpool

/// One exchange, from its options to its exit status: a `get`, or a `post` that is not frozen.
struct GetRun {
  let options: any ExchangeOptions
  let console: Console
  let stop: StopSwitch
  var environment = Environment.process

  /// Throws `NetworkError` for settings that the library refuses, `IOFailure` for an output that cannot be written,
  /// and `CacheFailure`.
  func run() throws -> JobStatus {
    let queue = try NetworkQueue()
    let engine = try NetworkEngine(configuration: configuration(queue))
    defer {
      queue.close()
      engine.closeCache()
    }
    let operation = engine.operation(try makeRequest())
    if let credentials = try options.credentials(environment) { operation.setCredentials(credentials) }
    if options.curl { return try printCommand(operation) }
    if let cache = try options.cacheSettings(environment) { try engine.useCache(cache) }
    let target = try GetTarget(options.output)
    let talk = options.verbose ? GetTalk() : nil
    if let talk { operation.addDownloadStream(talk) }
    operation.addDownloadStream(target.stream)
    if let limit = options.request.limitRate {
      operation.addDownloadStream(BrakeStream(ByteBrake(limit)))
    }
    stop.onPress { operation.cancel() }
    if stop.wish != .none { operation.cancel() }
    talk?.sending(operation.request, engine.configuration.headers)
    return try status(
      after: Result { () throws(NetworkError) in try engine.wait(for: operation) }, talk, target)
  }

  private func status(
    after result: Result<NetworkResponse, NetworkError>, _ talk: GetTalk?, _ target: GetTarget
  ) throws(IOFailure) -> JobStatus {
    switch result {
    case .success(let response):
      talk?.received(response)
      try target.write(response.body)
      return .allDone
    case .failure(let error):
      if let response = error.response { talk?.received(response) }
      return try status(of: error, target)
    }
  }

  private func configuration(_ queue: NetworkQueue) -> NetworkEngine.Configuration {
    var configuration = options.request.engineConfiguration
    configuration.queue = queue
    configuration.delivery = .loopThread
    configuration.allowsCredentialsInClear = options.sendsInClear
    return configuration
  }

  private func makeRequest() throws(IOFailure) -> NetworkRequest {
    var request = try options.makeRequest()
    // An engine's total holds for bodies in memory only; as the request's own it holds for streams too.
    request.timeouts = options.request.engineConfiguration.timeouts
    return request
  }

  private func printCommand(_ operation: NetworkOperation) throws(IOFailure) -> JobStatus {
    var command = operation.curlCommand(revealingSecrets: true)
    if let output = options.output { command += " --output \(ResumeCommand.quoted(output))" }
    try Descriptor(borrowing: 1, named: "standard output").write(Array("\(command)\n".utf8))
    return .allDone
  }

  private func status(of error: NetworkError, _ target: GetTarget) throws(IOFailure) -> JobStatus {
    if case .drain(let signal) = stop.wish { return .signal(signal) }
    if case .quit(let signal) = stop.wish { return .signal(signal) }
    if error.code == .sinkFailed {
      // The reader has what it wanted, as in `| head`.
      if error.errno != EPIPE { console.message("netspool: \(error)") }
      return .localIO
    }
    if error.code == .uploadSourceFailed {
      console.message("netspool: \(error)")
      return .localIO
    }
    if let response = error.response, error.code == .status || error.code == .authenticationFailed {
      try target.write(response.body)
    }
    console.message("netspool: \(error)")
    if error.code == .invalidConfiguration, error.reason == "allowsCredentialsInClear" {
      console.message("netspool: credentials go over plain HTTP only to this machine, or with --in-clear")
    }
    return .failedForGood
  }
}

/// Where the body of a `get` goes.
final class GetTarget {
  let stream: any DownloadStream
  private let isStandardOutput: Bool
  /// A pipe or device that was named as a file; open until the end.
  private let device: Descriptor?
  /// Of a plain file.
  private let path: String?

  /// - Parameter path: nil and `-` are standard output. What is no plain file is written to as it stands:
  ///   renaming a finished file over `/dev/null` or a FIFO would destroy it.
  init(_ path: String?) throws(IOFailure) {
    guard let path, path != "-" else {
      stream = DescriptorDownloadStream(1, digests: false)
      isStandardOutput = true
      device = nil
      self.path = nil
      return
    }
    isStandardOutput = false
    if let status = FileStatus(path: path), !status.isPlainFile {
      let opened = try Descriptor(opening: path, O_WRONLY)
      stream = DescriptorDownloadStream(opened.number, digests: false)
      device = .some(opened)
      self.path = nil
    } else {
      stream = FileDownloadStream(path: path, digests: false)
      device = nil
      self.path = path
    }
  }

  /// Writes a body that no stream saw: all of it, or nothing.
  func publish(_ body: ResponseBody) throws(IOFailure) {
    if isStandardOutput { return try write(body) }
    guard let path else { return try writeToDevice([UInt8](body)) }
    let draft = "\(path).netspool-\(OwnName.word)"
    do throws(IOFailure) {
      try Descriptor(opening: draft, O_WRONLY | O_CREAT | O_EXCL).write([UInt8](body))
      guard unsafe rename(draft, path) == 0 else { throw .last("write", path) }
    } catch {
      unsafe unlink(draft)
      throw error
    }
  }

  private func writeToDevice(_ bytes: [UInt8]) throws(IOFailure) {
    if device != nil { try device?.write(bytes) }
  }

  /// Writes a body that came in one piece, an error page for instance; only to standard output.
  func write(_ body: ResponseBody) throws(IOFailure) {
    guard isStandardOutput, !body.isEmpty else { return }
    do throws(IOFailure) {
      try Descriptor(borrowing: 1, named: "standard output").write([UInt8](body))
    } catch {
      if error.code != EPIPE { throw error }
    }
  }
}

/// What the commands that send one request have in common.
protocol ExchangeOptions {
  /// Where the body goes; nil is standard output.
  var output: String? { get }
  var verbose: Bool { get }
  /// Print the curl command instead of sending.
  var curl: Bool { get }
  var request: RequestOptions { get }

  /// The request itself, without what `request` says.
  func makeRequest() throws(IOFailure) -> NetworkRequest
  /// Who it comes from; nil: nobody.
  func credentials(_ environment: Environment) throws -> NetworkCredentials?
  /// Credentials go over plain HTTP to other machines as well.
  var sendsInClear: Bool { get }
  /// Nil: without a cache.
  func cacheSettings(_ environment: Environment) throws(CacheFailure) -> CacheSettings?
}

extension ExchangeOptions {
  func credentials(_ environment: Environment) throws -> NetworkCredentials? { nil }
  var sendsInClear: Bool { false }
}

extension GetOptions: ExchangeOptions {
  func credentials(_ environment: Environment) throws -> NetworkCredentials? {
    try account.credentials(environment)
  }

  var sendsInClear: Bool { account.inClear }

  func makeRequest() -> NetworkRequest { NetworkRequest(url: url, method: NetworkRequest.Method(method)) }

  func cacheSettings(_ environment: Environment) throws(CacheFailure) -> CacheSettings? {
    usesCache ? try CacheSettings(place, environment) : nil
  }
}
