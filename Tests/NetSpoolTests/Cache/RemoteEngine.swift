import Glibc
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// An engine in a process of its own, which does what it is told, one thing after the other, and says what came of it.
///
/// What is told and said are lines in two pipes of a folder, words divided by tabs.
struct RemoteEngine: Sendable {
  private let commands: TestPipe
  private let results: TestPipe

  struct Command {
    var method = Method.get
    var path = ""
    var fields: [(name: String, value: String)] = []
    var scope: String?
    var policy = NetSpool.CachePolicy.automatic
    /// Milliseconds since 1970.
    var now: Int64 = 0
  }

  struct Result {
    let status: Int
    let text: String
    let code: String
    let source: String

    init(_ ending: Ending) {
      let response = ending.response ?? ending.error?.response
      (status, text) = (response?.status ?? 0, response?.text ?? "")
      (code, source) = (ending.code.map { "\($0)" } ?? "-", response.map { "\($0.source)" } ?? "-")
    }

    fileprivate init(_ line: String) {
      let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      (status, text, code, source) = (Int(words[0]) ?? 0, words[1], words[2], words[3])
    }

    fileprivate var line: String { "\(status)\t\(text)\t\(code)\t\(source)" }
  }

  /// Makes the pipes, into which `serve` looks in the other process.
  init(in folder: TestFolder) throws {
    (commands, results) = (try TestPipe(folder["commands"]), try TestPipe(folder["results"]))
  }

  func perform(_ command: Command) async throws -> Result {
    let line = try await blocking { () throws(any Error) in
      try commands.write(command.words.joined(separator: "\t"))
      return try results.readLine()
    }
    return Result(line)
  }

  func quit() throws { try commands.write("quit") }

  /// In the other process, until it is told to quit.
  static func serve(in folder: String, port: Int) async throws {
    let (commands, results) = (try TestPipe(folder + "/commands"), try TestPipe(folder + "/results"))
    let clock = Variable<Int64>(0)
    let engine = try NetworkEngine(host: "127.0.0.1", on: .shared) { ($0.scheme, $0.port) = (.http, port) }
    try engine.useCache(.patient(folder), now: { clock.value })
    while let command = Command(try await blocking { () throws(any Error) in try commands.readLine() }) {
      clock.value = command.now
      let ending = await engine.end(of: command.operation(of: engine))
      engine.flushCache()
      try results.write(Result(ending).line)
    }
  }
}

extension RemoteEngine.Command {
  fileprivate var words: [String] {
    ["\(now)", method.name, path, policy.rawValue, scope ?? "-"]
      + fields.flatMap { [$0.name, $0.value] }
  }

  fileprivate init?(_ line: String) {
    let words = line.split(separator: "\t").map(String.init)
    guard words.count >= 5, let now = Int64(words[0]), let policy = NetSpool.CachePolicy(rawValue: words[3])
    else { return nil }
    (self.now, method, path, self.policy) = (now, Method(words[1]), words[2], policy)
    scope = words[4] == "-" ? nil : words[4]
    for index in stride(from: 5, to: words.count - 1, by: 2) {
      fields.append((words[index], words[index + 1]))
    }
  }

  /// The same here and there.
  func operation(of engine: NetworkEngine) -> NetworkOperation {
    let operation = engine.operation(path: path, method: method)
    for field in fields { operation.setHeader(field.name, field.value) }
    return operation.configure { [self] in
      $0.credentialScope = scope
      if method != .post { $0.cachePolicy = policy }
    }
  }
}

/// A named pipe, open at both ends, so that opening it waits for nobody.
final class TestPipe: Sendable {
  private let descriptor: FileDescriptor
  private let rest = Mutex<[UInt8]>([])

  init(_ path: String) throws {
    _ = unsafe mkfifo(path, 0o600)
    descriptor = try FileDescriptor(opening: path, flags: O_RDWR)
  }

  func write(_ line: String) throws {
    if let number = FileDescriptor.writeAll(Array("\(line)\n".utf8).rawBytes, to: descriptor.rawValue) {
      throw PartFailure("write: errno \(number)")
    }
  }

  /// Waits for a line.
  func readLine() throws -> String {
    while true {
      let line = rest.withLock { rest -> String? in
        guard let end = rest.firstIndex(of: 0x0A) else { return nil }
        defer { rest.removeFirst(end + 1) }
        return String(decoding: rest[..<end], as: UTF8.self)
      }
      if let line { return line }
      var wait = pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0)
      guard unsafe poll(&wait, 1, Deadline.generous.millisecondsLeft) == 1 else {
        throw PartFailure("the other process says nothing")
      }
      var bytes = [UInt8](repeating: 0, count: 4_096)
      let count = try unsafe bytes.withUnsafeMutableBytes { try unsafe descriptor.read(into: $0) }
      rest.withLock { $0 += bytes.prefix(count) }
    }
  }
}
