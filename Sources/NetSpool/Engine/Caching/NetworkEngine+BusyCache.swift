internal import Dispatch
internal import Synchronization

/// A cache whose store another process kept when it was to be opened.
extension NetworkEngine {
  /// Tries again every 5 s for as long as the engine is there and the store is busy.
  func useCacheLater(_ configuration: CacheConfiguration, now: @escaping @Sendable () -> Int64) {
    isCacheBusy.store(true, ordering: .relaxed)
    Self.retries.asyncAfter(deadline: .now() + .seconds(5)) { [weak self] in
      guard let self, !isClosed.load(ordering: .relaxed) else { return }
      do throws(NetworkError) {
        try openCache(configuration, now: now)
      } catch {
        if error.code == .storeBusy { return useCacheLater(configuration, now: now) }
      }
      isCacheBusy.store(false, ordering: .relaxed)
    }
  }

  /// Opening may wait, so it has threads of its own.
  private static let retries = DispatchQueue(label: "netspool.cache-retries", attributes: .concurrent)
}
