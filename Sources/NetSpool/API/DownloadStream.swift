internal import Synchronization

/// A destination of a response body. Give an operation as many as you like: they cost one network read.
///
/// All calls come on the loop thread, in order: `open` when a head of status 200...299 has arrived, `write`
/// for every piece, `close` exactly once, whatever happened (also if `open` was never reached, or threw).
/// None may block: all of the queue waits for it.
public protocol DownloadStream: Sendable {
  /// Adds the SHA-256 of its bytes to this stream's report; false unless said otherwise. Costs 0.7 s of CPU
  /// per GiB, on the loop thread.
  var wantsDigest: Bool { get }

  /// Before `open`: `wake` has bytes that were not taken offered again. Any thread may call it, at any time and as often as
  /// it likes, also when it is of no use. A stream that never calls it is asked again every 10 ms.
  func willOpen(wake: @escaping @Sendable () -> Void)

  /// The body is about to come. `bytesExpected` is nil when the length is not known.
  func open(_ head: ResponseHead, bytesExpected: Int64?) throws

  /// The next bytes, borrowed for the call. `.pause` takes none of them: the same bytes are offered again.
  func write(_ bytes: RawSpan) throws -> WriteResult

  /// The body is whole, or never will be. Exactly once.
  func close(_ outcome: Result<Void, NetworkError>)
}

extension DownloadStream {
  /// False unless said otherwise.
  public var wantsDigest: Bool { false }
  /// Does nothing.
  public func willOpen(wake: @escaping @Sendable () -> Void) {}
}

/// The part of the offered bytes that a stream took.
public struct WriteResult: Sendable, Hashable {
  /// Nil: all.
  var taken: Int?

  /// The stream took them all.
  public static let accepted = WriteResult(taken: nil)
  /// The stream took none: it is offered the same bytes again when it says so (`DownloadStream.willOpen(wake:)`,
  /// `ClosureDownloadStream.resume()`), or in 10 ms. Meanwhile up to 1 MiB is kept for it; then
  /// the transfer pauses, and no other with it.
  public static let pause = WriteResult(taken: 0)
  /// The stream took this many from the front; the rest is offered again in the loop's next turn, after none as for `.pause`.
  public static func took(_ count: Int) -> WriteResult { WriteResult(taken: count) }
}

/// The end of an operation of which a stream fails.
public enum StreamFailurePolicy: Sendable, Hashable {
  /// The operation ends with `.sinkFailed`; the default.
  case failOperation
  /// The stream is dropped and the others go on; the response's `streams` say so. When none is left, the operation ends
  /// with `.sinkFailed`.
  case dropStream
}

/// A body into a file: it gets its name when it is whole, so a failed body is never published and an old file is replaced
/// in one step. Writing happens off the loop thread.
///
/// A process that is killed leaves nothing: the file has no name before that (`O_TMPFILE`). Where the file system has no
/// such files, NFS for one, it has a hidden one (`.name.netspool-new`), and what a killed process left goes when the
/// next body is written to the same directory. A file that replaces another is synced first: after a power failure the old
/// one or the new one is there, whole. New files are not synced.
///
/// With `append` the whole body is put behind an existing file in one go, which needs room for it twice;
/// bodies for the same file go one behind the other, also those of other processes; one whose turn does not
/// come while the file has not grown for a second fails with `EWOULDBLOCK`, as the process that writes it has
/// been stopped. What a process has put there before it was killed stays.
///
/// A symbolic link as target is refused, and so is a name of NetSpool's own (`EINVAL`): `name.netspool-part`,
/// `name.netspool-validator` and the hidden ones. Errors: `.sinkFailed` with the errno in `underlying`
/// (missing directory, no permission, disk full, `ELOOP` for a link).
public final class FileDownloadStream: DownloadStream, CoreStream {
  /// The target, as given.
  public let path: String
  private let placement: FileWriter.Placement
  private let digests: Bool
  private let expected: [UInt8]?
  /// What writes the file where another stream wraps this one.
  private let work = Mutex<FileSinkBackground?>(nil)
  /// With `resume`.
  let part: Result<PartFile, SinkFailure>?

  /// A body that goes on where an earlier one broke off, whatever ended it: the link, the process or the machine.
  ///
  /// The part lies beside the target as `name.netspool-part`, its validator as `name.netspool-validator`; no
  /// body is given such a name, and what is published is the part that was written and hashed. The operation
  /// that the stream is added to, a GET without `Range`, asks for the rest with `Range` and `If-Range` (RFC
  /// 9110 section 13.1.5), for a body that is not compressed, and goes by the cache. An answer of 200 begins
  /// anew. Beside other streams the whole is asked for, as each gets all bytes. A rest that does not belong
  /// to the part, whose last 64 KiB are compared, and an answer of 416 end with `.resumeMismatch`, and the
  /// next attempt begins anew. A body that breaks off goes on by itself as often as the retry policy allows.
  /// Only a body with a strong validator leaves a part. A part of another URL, or from before the machine was
  /// started, is begun anew; a file of that name that is not ours is left alone (`.sinkFailed`, `EEXIST`),
  /// and one that another process writes, too (`EWOULDBLOCK`).
  ///
  /// - Parameters:
  ///   - path: the target; its directory must exist.
  ///   - resume: false is the same as without.
  ///   - partBytesMin: bodies that are known to be shorter leave no part, and their first request is as any other: it may be
  ///     answered by the cache, and compressed; 0 by default.
  ///   - sha256: 64 hexadecimal digits; a body with others ends with `.digestMismatch` and is not published. Nil, the
  ///     default: any. With what is no SHA-256 the operation ends with `.invalidRequest` when it is enqueued.
  ///   - digests: whether the report gets the SHA-256 of the whole file; false by default.
  public init(
    path: String, resume: Bool, partBytesMin: Int64 = 0, sha256: String? = nil, digests: Bool = false
  ) {
    self.path = path
    placement = .replace
    self.digests = digests
    expected = sha256.map { Hexadecimal.bytes($0) ?? [] }
    part =
      resume ? Result { () throws(SinkFailure) in try PartFile(path: path, bytesMin: partBytesMin) } : nil
  }

  /// Replaces the file at `path` by a body with this digest, in hexadecimal digits, and by no other.
  public convenience init(path: String, sha256: String) {
    self.init(path: path, resume: false, sha256: sha256)
  }

  /// From which byte the body of this answer goes on; 0 before the answer, and for one that begins anew. Any thread.
  public var resumedAt: Int64 { (try? part?.get())?.offset ?? 0 }

  /// - Parameters:
  ///   - path: the target; its directory must exist.
  ///   - append: behind an existing file instead of replacing it; false by default.
  ///   - digests: whether the report gets the SHA-256 of the bytes; false by default; 0.7 s of CPU per GiB.
  public init(path: String, append: Bool = false, digests: Bool = false) {
    self.path = path
    placement = append ? .append : .replace
    self.digests = digests
    expected = nil
    part = nil
  }

  /// What it was told to expect is no SHA-256.
  var isDigestMalformed: Bool { expected.map { $0.count != 32 } ?? false }

  /// The error that says so.
  static let malformedDigest = NetworkError(.invalidRequest, reason: "sha256: not 64 hexadecimal digits")

  func makeSink(_ services: SinkServices) throws(SinkFailure) -> any Sink {
    let device = services.devices.device(of: path)
    guard let part = try part?.get() else {
      return try FileSink(
        path: path, placement: placement, digests: digests, worker: services.worker, pool: services.buffers,
        device: device, expected: expected)
    }
    let (lane, worker) = (Worker.Lane(device: device), services.worker)
    return FileSink(
      path: path, worker: worker, pool: services.buffers, lane: lane,
      discardPart: { PartWriter.discard(part.target) }
    ) { [digests, expected] head, bytesExpected throws(SinkFailure) in
      try part.work(for: head, bytesExpected: bytesExpected, digests: digests, expected: expected)
    }
  }

  /// Opens the file, for streams that wrap this one; blocks on the disk. Throws `.invalidRequest` for what is no SHA-256.
  public func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    if isDigestMalformed { throw Self.malformedDigest }
    do throws(SinkFailure) {
      let opened = FileSinkBackground(
        target: try FileTarget(path), placement: placement, bytesExpected: bytesExpected, digests: false,
        expected: expected)
      try opened.open()
      work.withLock { $0 = opened }
    } catch { throw NetworkError(error) }
  }

  /// Writes all bytes, for streams that wrap this one; blocks on the disk.
  public func write(_ bytes: RawSpan) throws -> WriteResult {
    let opened = work.withLock { $0 }
    if let failure = opened?.write(bytes) { throw NetworkError(failure) }
    return .accepted
  }

  /// Publishes or removes the file, for streams that wrap this one. That it cannot be published, or is not what `sha256` says, is
  /// not told: it is not there then.
  public func close(_ outcome: Result<Void, NetworkError>) {
    let opened = work.withLock { $0.take() }
    if case .success = outcome { _ = opened?.finish(nil) } else { opened?.abandon(nil) }
  }
}

/// A body into memory, beside other streams.
public final class MemoryDownloadStream: DownloadStream {
  private let state = Mutex(State())
  private let bytesMax: Int

  private struct State { var bytes: [UInt8] = [], isWhole = false }

  /// - Parameter bytesMax: a body over it ends the operation with `.sinkFailed`; 64 MiB by default.
  public init(bytesMax: Int = 64 << 20) { self.bytesMax = bytesMax }
  /// The bytes that have arrived so far. Any thread.
  public var bytes: [UInt8] { state.withLock { $0.bytes } }
  /// The body is whole.
  public var isWhole: Bool { state.withLock { $0.isWhole } }

  /// Makes room for the body.
  public func open(_ head: ResponseHead, bytesExpected: Int64?) {
    state.withLock { $0.bytes.reserve(announced: bytesExpected, atMost: bytesMax) }
  }

  /// Appends.
  public func write(_ bytes: RawSpan) throws -> WriteResult {
    let fits = state.withLock { state in
      guard state.bytes.count + bytes.byteCount <= bytesMax else { return false }
      state.bytes.append(bytes)
      return true
    }
    guard fits else { throw NetworkError(code: .bodyTooLarge, reason: "more than \(bytesMax) bytes") }
    return .accepted
  }

  /// Notes whether the body is whole.
  public func close(_ outcome: Result<Void, NetworkError>) {
    state.withLock { state in if case .success = outcome { state.isWhole = true } }
  }
}

/// A body into an open descriptor: a pipe, a socket, a terminal, or a file at its position.
///
/// A full pipe or socket slows this transfer only: up to 1 MiB is kept, then the transfer pauses until there
/// is room. A reader that went away ends the operation with `.sinkFailed` (EPIPE); no signal is raised.
public final class DescriptorDownloadStream: DownloadStream, CoreStream {
  /// The descriptor, which stays the caller's and must stay open until the operation has ended.
  public let descriptor: Int32
  private let digests: Bool

  /// - Parameters:
  ///   - descriptor: open for writing, and the caller's to close.
  ///   - digests: whether the report gets the SHA-256 of the bytes; false by default.
  public init(_ descriptor: Int32, digests: Bool = false) {
    self.descriptor = descriptor
    self.digests = digests
  }

  func makeSink(_ services: SinkServices) -> any Sink {
    DescriptorSink(descriptor, digests: digests, waitUntilWritable: services.waitUntilWritable)
  }

  /// Does nothing.
  public func open(_ head: ResponseHead, bytesExpected: Int64?) {}

  /// Writes all bytes, for streams that wrap this one: blocks until they are written.
  public func write(_ bytes: RawSpan) throws -> WriteResult {
    if let errno = FileDescriptor.writeAll(bytes, to: descriptor) {
      throw NetworkError(SinkFailure(errno: errno, reason: "could not write to descriptor \(descriptor)"))
    }
    return .accepted
  }

  /// Does nothing: the descriptor is the caller's.
  public func close(_ outcome: Result<Void, NetworkError>) {}
}

/// A body that is not kept: it is read to its end and counted, and takes no memory however long it is.
///
/// With a cache it is stored there, which fills a cache without having the bodies in memory.
public struct DiscardDownloadStream: DownloadStream {
  /// Adds the SHA-256 of the bytes to the report.
  public let wantsDigest: Bool

  /// - Parameter digests: whether the report gets the SHA-256 of the bytes; false by default.
  public init(digests: Bool = false) { wantsDigest = digests }
  /// Does nothing.
  public func open(_ head: ResponseHead, bytesExpected: Int64?) {}
  /// Takes them all.
  public func write(_ bytes: RawSpan) -> WriteResult { .accepted }
  /// Does nothing.
  public func close(_ outcome: Result<Void, NetworkError>) {}
}

/// A body piece by piece into a closure, in order, on the loop thread. The closure must not block.
public final class ClosureDownloadStream: DownloadStream {
  /// Adds the SHA-256 of the bytes to the report.
  public let wantsDigest: Bool
  private let onBytes: @Sendable (RawSpan) throws -> WriteResult
  private let onClose: (@Sendable (Result<Void, NetworkError>) -> Void)?
  private let wake = Mutex<(@Sendable () -> Void)?>(nil)

  /// - Parameters:
  ///   - digests: whether the report gets the SHA-256 of the bytes; false by default.
  ///   - onClose: called exactly once, at the end.
  ///   - onBytes: gets each piece, borrowed for the call; throwing fails the stream.
  public init(
    digests: Bool = false, onClose: (@Sendable (Result<Void, NetworkError>) -> Void)? = nil,
    onBytes: @escaping @Sendable (RawSpan) throws -> WriteResult
  ) {
    wantsDigest = digests
    self.onBytes = onBytes
    self.onClose = onClose
  }

  /// After `.pause` the closure can take more: it is offered the bytes again at once. Any thread.
  public func resume() { wake.withLock { $0 }?() }
  /// Keeps it for `resume()`.
  public func willOpen(wake: @escaping @Sendable () -> Void) { self.wake.withLock { $0 = wake } }
  /// Does nothing.
  public func open(_ head: ResponseHead, bytesExpected: Int64?) {}
  /// Hands the bytes to the closure.
  public func write(_ bytes: RawSpan) throws -> WriteResult { try onBytes(bytes) }
  /// Tells the closure.
  public func close(_ outcome: Result<Void, NetworkError>) { onClose?(outcome) }
}
