import BenchKit
import NetSpool

/// An engine on the shared queue, with as many requests on the wire as the options say.
func makeEngine(_ options: Options) throws(NetworkError) -> NetworkEngine {
  let queue = NetworkQueue.shared
  queue.sizing = .fixed(options.concurrency)
  queue.maximumConcurrent = options.concurrency
  queue.maximumPerOrigin = options.concurrency
  var configuration = NetworkEngine.Configuration()
  configuration.delivery = options.delivery == "loop" ? .loopThread : .serialQueue
  if options.h2 { configuration.tls.caFile = options.ca }
  return try NetworkEngine(configuration: configuration)
}
