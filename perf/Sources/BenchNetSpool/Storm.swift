import BenchKit
import Dispatch
import NetSpool

/// Most operations are cancelled: while they wait, while they are on the wire, and after they have ended.
func stressCancel(_ engine: NetworkEngine, _ options: Options) {
  let endings = Endings(count: options.requests)
  let begin = Usage.now()
  DispatchQueue.concurrentPerform(iterations: options.threads) { thread in
    var storm = Storm(engine, options, endings, seed: UInt64(thread))
    for index in stride(from: thread, to: options.requests, by: options.threads) { storm.send(index) }
  }
  endings.wait()
  var report = Report(client: "netspool", options: options)
  report.add(Usage.now() - begin, requests: options.requests)
  report.add("threads", options.threads)
  finish(endings, &report)
}

/// One thread of it.
private struct Storm {
  /// Operations one thread has under way at most: enough that some wait, few enough that some are on the wire.
  private static let window = 64

  private let engine: NetworkEngine
  private let options: Options
  private let endings: Endings
  private let room = DispatchSemaphore(value: window)
  private var recent: [NetworkOperation] = []
  private var random: SplitMix64

  init(_ engine: NetworkEngine, _ options: Options, _ endings: Endings, seed: UInt64) {
    self.engine = engine
    self.options = options
    self.endings = endings
    random = SplitMix64(seed: seed)
  }

  /// Sends one, and cancels one of the last in three of four turns: perhaps this one, perhaps one that has ended.
  mutating func send(_ index: Int) {
    room.wait()
    let operation = watched(engine, options.url(index), index, endings) { [room] in room.signal() }
    engine.enqueue(operation)
    remember(operation, at: index / options.threads)
    guard Int.random(in: 0..<4, using: &random) > 0, let victim = recent.randomElement(using: &random) else {
      return
    }
    victim.cancel()
  }

  private mutating func remember(_ operation: NetworkOperation, at turn: Int) {
    if recent.count < Self.window { recent.append(operation) } else { recent[turn % Self.window] = operation }
  }
}
