import BenchKit
import Glibc
import NetSpool

/// An engine on the shared queue, with as many requests on the wire as the options say.
func makeEngine(_ options: Options) throws(NetworkError) -> NetworkEngine {
  if options.loops > 0 { unsafe setenv("NETSPOOL_LOOPS", "\(options.loops)", 1) }
  let queue = options.automatic || options.split ? try ownQueue(options) : .shared
  // Beside bulk work the one request in flight is not alone.
  let width = options.bulk > 0 ? Bulk.width : options.concurrency
  queue.sizing = options.adaptive ? .adaptive : .fixed(width)
  queue.maximumConcurrent = width
  // Counted by chains, an origin has its own share of what is on the wire, as it has it in the raw program.
  queue.maximumPerOrigin = options.milliseconds > 0 ? max(1, width / options.hosts) : width
  var configuration = NetworkEngine.Configuration()
  configuration.queue = queue
  configuration.delivery = options.delivery == "loop" ? .loopThread : .serialQueue
  if !options.ca.isEmpty {
    configuration.tls.caFile = options.ca
    configuration.httpVersion = options.h2 ? .automatic : .http1
  }
  let engine = try NetworkEngine(configuration: configuration)
  if !options.cache.isEmpty, options.mode != .freeze { try engine.useCache(cacheConfiguration(options)) }
  return engine
}

/// A queue with as many loops as the library thinks right for the machine, or all of them for each origin.
private func ownQueue(_ options: Options) throws(NetworkError) -> NetworkQueue {
  var configuration = NetworkQueue.Configuration()
  if options.automatic { configuration.loops = .automatic }
  configuration.splitsHotOrigins = options.split
  return try NetworkQueue(configuration: configuration)
}

/// With room for all that is asked for: what it costs to make room is another question.
private func cacheConfiguration(_ options: Options) -> CacheConfiguration {
  var cache = CacheConfiguration()
  cache.directory = options.cache
  let entries = options.unique ? options.requests + options.warmup : options.distinct
  cache.bytesMax = max(cache.bytesMax, 2 * entries * (options.bodyBytes + 4_096))
  return cache
}
