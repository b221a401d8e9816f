#if Images
public import NetSpool
internal import Synchronization

/// A thumbnail on its way: the picture's request, then a place in the decoders' line. Ends exactly once. Any thread.
public final class ThumbnailOperation: Sendable {
  package typealias Ending = @Sendable (Result<NetworkThumbnail, NetworkError>) -> Void

  /// The request for the picture, with its priority and tag; its own handlers may be added. It has ended when the picture
  /// is there. Never enqueued where the thumbnail was in the cache: an operation that depends on it would then wait for ever.
  public let fetch: NetworkOperation

  private let engine: NetworkEngine
  private let transform: ThumbnailTransform
  private let limits: ThumbnailLimits
  private let pool: PicturePool
  private let sha256: String?

  private struct State {
    /// Nil once it has ended.
    var ending: Ending?
    /// In the decoders' line, or with a decoder.
    var job: PicturePool.Job?
  }

  private let state: Mutex<State>

  /// - Parameter sha256: 64 hexadecimal digits; nothing is made of a picture with others, which ends with
  ///   `.digestMismatch`. A thumbnail from the cache counts only beside the bytes of its picture.
  package init(
    _ fetch: NetworkOperation, of engine: NetworkEngine, _ transform: ThumbnailTransform,
    _ limits: ThumbnailLimits, on pool: PicturePool, sha256: String? = nil, _ ending: @escaping Ending
  ) {
    self.fetch = fetch
    self.engine = engine
    self.transform = transform
    self.limits = limits
    self.pool = pool
    self.sha256 = sha256
    state = Mutex(State(ending: ending))
  }

  /// Ends it with `.cancelled`, wherever it is: while it is fetched, while it waits for a decoder, and within a few rows
  /// while it is decoded. Nothing happens once it has ended. What cancels `fetch` by its engine (`cancel(tag:)`, `cancelAll()`,
  /// `shutDown`) does so as well, and `fetch.priority` counts in the decoders' line, too.
  public func cancel() {
    fetch.cancel()
    end(.failure(NetworkError(code: .cancelled)))
  }

  private var isUnwanted: Bool { state.withLock { $0.ending == nil } }

  /// The first one counts.
  /// - Parameter held: the answer that the request was not sent for; its queue waits for the handlers.
  private func end(_ result: Result<NetworkThumbnail, NetworkError>, held: NetworkResponse? = nil) {
    let (body, job) = state.withLock { state in
      defer { state = State() }
      if held != nil, state.ending != nil { engine.willFollow() }
      return (state.ending, state.job)
    }
    guard let body else { return }
    job?.forget()
    engine.deliver { [self] in
      if let held { engine.didAnswer(fetch, with: held) }
      body(result)
      engine.leave(self, hasFollowed: job != nil || held != nil)
    }
  }
}

extension ThumbnailOperation: FollowUp {
  package var operation: NetworkOperation { fetch }
  package func end(with failure: NetworkError) { end(.failure(failure)) }
  package func changePriority(to priority: NetworkRequest.Priority) {
    if let job = state.withLock({ $0.job }) { pool.move(job, to: priority) }
  }
}

extension ThumbnailOperation {
  /// Looks into the cache, and fetches the picture if it is not there. Once.
  package func start() {
    engine.follow(self)
    do throws(NetworkError) {
      try transform.check()
    } catch {
      return end(.failure(error))
    }
    if sha256 == nil, let held = engine.derived(transform.name, of: fetch),
      let thumbnail = NetworkThumbnail(held: held)
    {
      return end(.success(thumbnail), held: held)
    }
    fetch.demandImage()
    fetch.onFinal { [self] result in
      switch result {
      case .success(let response): decode(response)
      case .failure(let error): end(.failure(error))
      }
    }
    engine.enqueue(fetch)
  }

  /// The delivery target: only the header is looked at here.
  private func decode(_ response: NetworkResponse) {
    let image = response.image
    do throws(PictureRejection) {
      try limits.check(image)
    } catch {
      return end(.failure(.rejected(error.cause, response)))
    }
    let bytes = image?.decodedBytes ?? 0
    let job = PicturePool.Job(bytes: bytes) { [self] in make(response) }
    let isWanted = state.withLock { state in
      guard state.ending != nil else { return false }
      state.job = job
      engine.willFollow()
      return true
    }
    guard isWanted else { return }
    pool.submit(job, fetch.priority)
    // It may have been changed before the job was in its line.
    pool.move(job, to: fetch.priority)
  }

  /// A decoder's thread.
  private func make(_ response: NetworkResponse) {
    if isUnwanted { return }
    if let sha256, let mismatch = NetworkError.mismatch(response, sha256: sha256) {
      return end(.failure(mismatch))
    }
    var sent = fetch.request
    if response.finalURL != sent.url { sent.url = response.finalURL }
    // The origin has confirmed the picture, another has made it meanwhile, or a redirect leads to what was made before.
    if let held = engine.derived(transform.name, of: response, toSent: sent),
      let thumbnail = NetworkThumbnail(held: held)
    {
      return end(.success(thumbnail))
    }
    do throws(PictureRejection) {
      let picture = try pool.decoder.make(response.body, transform, limits) { [self] in isUnwanted }
      engine.keep(
        derived: transform.name, picture.bytes, type: transform.format.mimeType, of: response, toSent: sent)
      guard let thumbnail = NetworkThumbnail(picture.bytes, of: response) else { throw .damaged }
      end(.success(thumbnail))
    } catch {
      end(.failure(.rejected(error.cause, response, error.code)))
    }
  }
}

extension PictureRejection {
  /// Failures that are not the picture's fault have another code, with which it may be asked for again.
  fileprivate var code: NetworkError.Code {
    switch self {
    case .tooManyOpenFiles: .tooManyOpenFiles
    case .unstarted: .engineStartFailed
    case .format, .pixels, .damaged, .time, .memory, .crashed, .cancelled: .imageRejected
    }
  }

  var cause: NetworkError.Cause { code == .imageRejected ? NetworkError.Cause(rawValue) : .decoder }
}
#endif
