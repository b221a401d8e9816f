import Glibc
import NetSpool

/// The job's network: one engine, on a queue of its own that is as wide as `--jobs` and `--per-origin` say.
///
/// Endings come on the loop thread and go straight to the job's mailbox, so no queue hop is paid for them.
final class EngineFetcher: Fetcher {
  private let queue: NetworkQueue
  private let sender: Sender
  private let folder: OutputFolder?
  private let gate: ImageGate?

  /// Throws `NetworkError` for settings that the library refuses, `CacheFailure` for a cache that cannot be used,
  /// and `IOFailure`.
  /// - Parameters:
  ///   - folder: where the bodies go, if they go to files.
  ///   - cache: nil is none.
  ///   - temporary: for what needs a folder for a while.
  init(_ options: FetchOptions, _ folder: OutputFolder?, cache: CacheSettings?, temporary: String) throws {
    queue = try NetworkQueue(configuration: options.queueConfiguration)
    self.folder = folder
    var configuration = options.request.engineConfiguration
    configuration.queue = queue
    configuration.delivery = .loopThread
    let engine = try NetworkEngine(configuration: configuration)
    if let cache { try engine.useCache(cache) }
    gate = options.imagesOnly ? try ImageGate(temporaryIn: folder == nil ? temporary : nil) : nil
    sender = Sender(engine, options, gate)
  }

  func start(_ item: FetchItem, completion: @escaping @Sendable (FetchOutcome) -> Void) {
    let path: String?
    do throws(IOFailure) {
      path = try target(of: item)
    } catch {
      return completion(FetchOutcome(local: error.code))
    }
    sender.send(Sender.Parcel(url: item.url, path: path, completion: completion))
  }

  private func target(of item: FetchItem) throws(IOFailure) -> String? {
    guard let folder, let output = item.output else { return nil }
    return try folder.makePath(for: output)
  }

  func cancelWaiting() { sender.drain() }

  func cancelAll() { sender.engine.cancelAll() }

  /// Ends the network's threads; what still runs ends as cancelled, and its unfinished files are removed. What was
  /// fetched is in the cache when this returns.
  func close() {
    queue.close()
    gate?.close()
    sender.engine.closeCache()
  }
}

extension FetchOptions {
  /// A fixed number of jobs is a promise; `auto` lets the queue find each origin's best width.
  fileprivate var queueConfiguration: NetworkQueue.Configuration {
    var configuration = NetworkQueue.Configuration()
    switch jobs {
    case .auto:
      if let perOrigin {
        configuration.maximumPerOrigin = perOrigin
        configuration.maximumConcurrent = max(perOrigin, configuration.maximumConcurrent)
      }
    case .fixed(let count):
      let perOrigin = min(perOrigin ?? count, count)
      configuration.sizing = .fixed(perOrigin)
      configuration.maximumPerOrigin = perOrigin
      configuration.maximumConcurrent = count
    }
    return configuration
  }
}
