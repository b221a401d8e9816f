internal import Glibc

/// A destination of a response body. Lives on the loop thread; must not block it.
///
/// Calls come in this order: `open` once, `write` any number of times, then `finish` once, whatever
/// happened. Where no body comes, `forgo` stands for `open`.
protocol Sink: AnyObject {
  /// The head has arrived and its body is wanted. `ready` may be kept and called, on the loop thread
  /// only, whenever bytes that were not taken could be offered again or a pending finish has ended.
  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) throws(SinkFailure)

  /// There is no body for it. `ready` as for `open`.
  func forgo(ready: @escaping () -> Void)

  /// Takes some or all of the bytes and answers how many. Fewer than offered: the rest is kept by the
  /// fan-out and offered again after `ready`, and the transfer is paused when too much is kept.
  func write(_ bytes: RawSpan) throws(SinkFailure) -> Int

  /// The body is complete (`failure` nil: publish) or never will be (abandon). Answers `.pending` while
  /// work goes on elsewhere; `ready` is then called and `finish` is asked again.
  func finish(_ failure: NetworkError?) throws(SinkFailure) -> SinkProgress

  /// What became of it; asked after the finish.
  var report: NetworkResponse.StreamReport { get }

  /// Grows as it gets on with what it was given. One that stands still for too long is given up.
  var progress: Int64 { get }

  /// True when a reader sets its pace, for whom only `timeouts.reader` counts. A disk of ours has the stall limit.
  var waitsForReader: Bool { get }

  /// A reader follows the body as it comes, so that a little now and then is all it waits for.
  var isFollowed: Bool { get }
}

extension Sink {
  var isFollowed: Bool { false }

  func forgo(ready: @escaping () -> Void) {}
  var progress: Int64 { report.bytes }
  var waitsForReader: Bool { true }
}

enum SinkProgress: Sendable { case done, pending }

/// A sink could not go on: the error number, and what it was doing.
struct SinkFailure: Error, Sendable {
  var errno: Int32?
  var reason: String
  var cause: NetworkError.Cause?
  /// The error of a user's own stream.
  var thrown: (any Error)?
  /// With which the operation ends.
  var code = NetworkError.Code.sinkFailed
}

extension SinkFailure {
  /// A body with another digest than it must have; nil when all is well.
  init?(of target: FileTarget, _ digest: [UInt8]?, expected: [UInt8]?) {
    guard let expected, digest != expected else { return nil }
    let found = digest.map(Hexadecimal.text) ?? "none"
    self.init(
      reason: "the SHA-256 of \(target.path) is \(found) instead of \(Hexadecimal.text(expected))",
      code: .digestMismatch)
  }

  /// What came belongs to another body than the part of a file.
  init(mismatching target: FileTarget, _ reason: String) {
    self.init(
      reason: "the rest does not belong to the part of \(target.path): \(reason)", code: .resumeMismatch)
  }

  /// Says what could not be done to which file, and why: one sentence and the number behind it.
  init(_ doing: String, _ target: FileTarget, _ failure: SystemError) {
    self.init(doing, target.path, failure)
  }

  init(_ doing: String, _ what: String, _ failure: SystemError) {
    self.init(errno: failure.number, reason: "\(doing) \(what): \(Self.cause(failure.number))")
  }

  private static func cause(_ number: CInt) -> String {
    switch number {
    case ENOENT: "there is no such directory"
    case ENOTDIR: "a part of the path is not a directory"
    case EISDIR: "a directory has this name"
    case EEXIST: "the name is taken"
    case ELOOP: "a symbolic link has this name"
    case ENOTSUP: "what has this name is not a file"
    case EACCES, EPERM: "permission denied"
    case EROFS: "the file system is read-only"
    case ENOSPC: "no space left on the disk"
    case EDQUOT: "the disk quota is used up"
    case EFBIG: "the file would be too long"
    case ENAMETOOLONG: "the name is too long"
    case EMFILE, ENFILE: "too many open files"
    case EPIPE, ECONNRESET: "nobody reads it any more"
    case EBADF: "it is not open for writing"
    case EWOULDBLOCK: "another program writes it"
    case ESTALE: "another file has taken its name"
    default: "error \(number)"
    }
  }
}

extension NetworkError {
  /// - Parameter code: with which it ends, if it is not the failure's own.
  init(_ failure: SinkFailure, code: Code? = nil, in stream: String = "", sendState: SendState = .notSent) {
    self.init(
      code ?? failure.code, cause: failure.cause, about: failure.thrown.map { "\($0)" },
      reason: stream + failure.reason, underlying: failure.errno.map { .errno($0) }, sendState: sendState)
    thrown = failure.thrown
  }
}

/// Stands in for a sink that could not be made: it fails when it is opened, as any other would.
final class FailedSink: Sink {
  private let failure: SinkFailure
  let report = NetworkResponse.StreamReport()

  init(_ failure: SinkFailure) { self.failure = failure }

  func open(
    _ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void
  ) throws(SinkFailure) { throw failure }

  func write(_ bytes: RawSpan) throws(SinkFailure) -> Int { throw failure }
  func finish(_ failure: NetworkError?) -> SinkProgress { .done }
}

/// What writes to a file, until a step fails.
protocol FailingWriter: ~Copyable {
  var failure: SinkFailure? { get set }
  /// Lets the file go.
  mutating func giveUp()
}

extension FailingWriter where Self: ~Copyable {
  /// Runs a step unless an earlier one failed, and gives the file up when it fails.
  mutating func attempt(_ step: (inout Self) throws(SinkFailure) -> Void) -> SinkFailure? {
    if let failure { return failure }
    do {
      try step(&self)
      return nil
    } catch {
      giveUp()
      failure = error
      return error
    }
  }
}
