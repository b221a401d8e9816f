import BenchKit
import NetSpool

// The public face as a user meets it: an engine, operations with closures, a cache where one is named.

let options = Options.fromCommandLine()
let engine = try makeEngine(options)

switch options.mode {
case .get where options.milliseconds > 0: measureChains(engine, options)
case .get, .latency: measureGets(engine, options)
case .callers: measureCallers(engine, options)
case .enqueue: measureEnqueue(engine, options)
case .memory: measureMemory(engine, options)
case .hits: measureHits(engine, options)
case .lookup, .lag: usageError("--\(options.mode) is not for this client")
case .crowd: stressEnqueue(engine, options)
case .freeze where options.milliseconds > 0: try measureFreezesByThreads(engine, options)
case .freeze where options.store.isEmpty: try stressFreeze(engine, options)
case .freeze: try measureFreezes(engine, options)
case .storm: stressCancel(engine, options)
case .mixed: try measureMixed(options)
case .overload: try measureOverload(options)
case .download: measureDownload(engine, options)
}
abandonEverything()
