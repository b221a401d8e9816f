import Dispatch

/// Requests that are kept through the public face and may not be sent: what it costs until each is said to be on the disk.
struct EngineFreezes: Sendable {
  let refused = Counter()
  private let engine: NetworkEngine
  private let url: String
  private let body: [UInt8]

  init(_ options: Options) throws {
    engine = try NetworkEngine()
    try engine.useFreezing(Self.configuration(options))
    url = options.urlPrefix
    body = [UInt8](repeating: 2, count: options.bodyBytes)
  }

  private static func configuration(_ options: Options) -> FreezeConfiguration {
    var freezing = FreezeConfiguration()
    freezing.directory = options.cache
    freezing.requestsMax = max(freezing.requestsMax, 2 * options.requests)
    freezing.bytesMax = max(freezing.bytesMax, options.requests * (options.bodyBytes + 4_096))
    freezing.maySend = { _ in false }
    return freezing
  }

  /// Seconds until an engine knows all that is in a store, and could send it.
  static func opening(_ options: Options) throws -> Double {
    let begin = Clock.monotonic()
    let engine = try NetworkEngine()
    try engine.useFreezing(configuration(options))
    guard engine.flushFrozen(deadline: 60) else { usageError("the store does not open") }
    return Double(Clock.monotonic() - begin) / 1e9
  }

  /// Hands over so many at once, and waits until they are on the disk before the next.
  func write(_ count: Int, atOnce: Int) {
    for first in stride(from: 0, to: count, by: atOnce) {
      let group = min(atOnce, count - first)
      let (written, done) = (Counter(), DispatchSemaphore(value: 0))
      for number in first..<first + group {
        var request = NetworkRequest(url: "\(url)/frozen/\(number)", method: .post)
        request.body = .bytes(body)
        request.isFreezable = true
        engine.enqueue(
          engine.operation(request)
            .onFrozen { _ in if written.next() == group { done.signal() } }
            .onError { _ in
              refused.add()
              if written.next() == group { done.signal() }
            })
      }
      done.wait()
    }
  }
}
