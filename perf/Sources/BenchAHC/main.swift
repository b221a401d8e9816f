import AsyncHTTPClient
import BenchKit
import NIOCore
import NIOPosix

// The futures door, which is the cheaper one, on one event loop thread unless told otherwise.

let options = Options.fromCommandLine()
let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, options.loops))
let client = HTTPClient(eventLoopGroupProvider: .shared(group), configuration: makeConfiguration(options))

switch options.mode {
case .get where options.milliseconds > 0: measureChains(client, options)
case .get, .latency: measureGets(client, options)
case .callers: measureCallers(client, options)
case .enqueue: measureEnqueue(client, options)
case .memory: measureMemory(client, options)
case .hits, .lookup, .crowd, .storm, .lag, .freeze, .mixed, .overload:
  usageError("--\(options.mode) is not for this client")
case .download: try measureDownload(client, options)
}
abandonEverything()
