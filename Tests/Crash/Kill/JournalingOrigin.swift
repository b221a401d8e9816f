#if DEBUG
import Glibc
import NetSpoolTesting
import Synchronization
@testable import TestSupport

/// An origin that knows idempotency keys: it does what a request asks for once per key, writes down that the request
/// came before it answers, and answers as badly as its seed says.
final class JournalingOrigin: Sendable {
  /// A request came.
  struct Arrival: Sendable {
    let key: String
    let digest: String
    let path: String
  }

  private struct Book {
    var random: SplitMix64
    var isHealthy = false
    var arrivals: [Arrival] = []
    /// What was asked for under a key.
    var effects: [String: String] = [:]
  }

  private enum Fate { case answer, fail, hang, reset, drop }

  let origin: ScriptedOrigin
  private let book: Mutex<Book>
  private let journal: Int32

  /// - Parameter journal: a file, one line for each arrival: key, digest, path.
  init(seed: UInt64, journal path: String) throws {
    book = Mutex(Book(random: SplitMix64(seed: seed)))
    journal = unsafe open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
    guard journal >= 0 else { throw PartFailure("open \(path): errno \(errno)") }
    var limits = OriginLimits()
    limits.keptRequestsMax = 1
    origin = try ScriptedOrigin(limits: limits)
    origin.fallback { [weak self] request in self?.answer(request) ?? .hangUp }
  }

  deinit {
    origin.stop()
    close(journal)
  }

  var port: Int { origin.port }

  /// From now on everything is answered.
  func setHealthy(_ isHealthy: Bool) {
    book.withLock { $0.isHealthy = isHealthy }
    if isHealthy { origin.releaseAll() }
  }

  /// What came since it was asked last.
  func takeArrivals() -> [Arrival] {
    book.withLock { book in
      defer { book.arrivals = [] }
      return book.arrivals
    }
  }

  /// What was asked for under a key, and done.
  func effect(_ key: String) -> String? { book.withLock { $0.effects[key] } }

  // MARK: Answering

  private func answer(_ request: RecordedRequest) -> Answer {
    let key = request.header("Idempotency-Key")?.filter { $0 != "\"" } ?? "none"
    let digest = FrozenContent.digest(method: request.method, url: request.target, body: request.body)
    return book.withLock { book in
      let fate = Self.fate(&book)
      let isApplied = fate == .answer || fate == .reset || fate == .hang && book.random.chance(50)
      let path = String(request.target.dropFirst())
      book.arrivals.append(Arrival(key: key, digest: digest, path: path))
      note("\(key) \(digest) \(path)")
      guard book.effects[key] ?? digest == digest else { return .status(422) }
      if isApplied { book.effects[key] = digest }
      return Self.answer(fate)
    }
  }

  private static func fate(_ book: inout Book) -> Fate {
    if book.isHealthy { return .answer }
    switch book.random.below(100) {
    case 0..<10: return .fail
    case 10..<11: return .hang
    case 11..<18: return .reset
    case 18..<25: return .drop
    default: return .answer
    }
  }

  private static func answer(_ fate: Fate) -> Answer {
    switch fate {
    case .answer: .text("done")
    case .fail: .status(500)
    case .hang: .noAnswer
    case .reset: .raw([.reset])
    case .drop: .hangUp
    }
  }

  /// On the disk before the answer leaves.
  private func note(_ line: String) {
    CrashFiles.say(line, to: journal)
    fsync(journal)
  }
}
#endif
