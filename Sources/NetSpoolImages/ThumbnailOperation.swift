#if Images
public import NetSpool
internal import Synchronization

/// A thumbnail on its way: the picture's request, then a place in the decoders' line. Ends exactly once. Any thread.
public final class ThumbnailOperation: Sendable {
  package typealias Ending = @Sendable (Result<NetworkThumbnail, NetworkError>) -> Void

  /// The request for the picture, with its priority and tag; its own handlers may be added. It has ended when the picture
  /// is there. Never enqueued where the thumbnail was in the cache.
  public let fetch: NetworkOperation

  private let engine: NetworkEngine
  private let transform: ThumbnailTransform
  private let limits: ThumbnailLimits
  private let pool: PicturePool
  private let ending: Mutex<Ending?>

  package init(
    _ fetch: NetworkOperation, of engine: NetworkEngine, _ transform: ThumbnailTransform,
    _ limits: ThumbnailLimits, on pool: PicturePool, _ ending: @escaping Ending
  ) {
    self.fetch = fetch
    self.engine = engine
    self.transform = transform
    self.limits = limits
    self.pool = pool
    self.ending = Mutex(ending)
  }

  /// Ends it with `.cancelled`, wherever it is: while it is fetched, while it waits for a decoder, and within a few rows
  /// while it is decoded. Nothing happens once it has ended.
  public func cancel() {
    fetch.cancel()
    end(.failure(NetworkError(code: .cancelled)))
  }

  private var isUnwanted: Bool { ending.withLock { $0 == nil } }

  /// The first one counts.
  private func end(_ result: Result<NetworkThumbnail, NetworkError>) {
    let body = ending.withLock { ending in
      defer { ending = nil }
      return ending
    }
    if let body { engine.deliver { body(result) } }
  }
}

extension ThumbnailOperation {
  /// Looks into the cache, and fetches the picture if it is not there. Once.
  package func start() {
    do throws(NetworkError) {
      try transform.check()
    } catch {
      return end(.failure(error))
    }
    if let held = engine.derived(transform.name, of: fetch.request),
      let thumbnail = NetworkThumbnail(held: held)
    {
      return end(.success(thumbnail))
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
      return end(.failure(.rejected(error.rawValue, response)))
    }
    let bytes = (image?.decodedPixels ?? 0) * 4
    pool.submit(PicturePool.Job(bytes: bytes) { [self] in make(response) }, fetch.priority)
  }

  /// A decoder's thread.
  private func make(_ response: NetworkResponse) {
    if isUnwanted { return }
    var sent = fetch.request
    if response.finalURL != sent.url { sent.url = response.finalURL }
    // Another may have made it meanwhile, or a redirect leads to what was made before.
    if let held = engine.derived(transform.name, ofSent: sent),
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
      end(.failure(.rejected(error.rawValue, response)))
    }
  }
}
#endif
