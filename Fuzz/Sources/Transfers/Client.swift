internal import NetSpool

/// An engine on a queue of its own, with an origin: made once, since a run must cost less than a millisecond.
final class Client: Sendable {
  let origin = RawOrigin()
  let queue: NetworkQueue
  let engine: NetworkEngine

  init(_ configure: (inout NetworkEngine.Configuration) -> Void = { _ in }) {
    origin.start()
    var settings = NetworkQueue.Configuration()
    // An adaptive width would remember across runs that the origin asked for quiet.
    settings.sizing = .fixed(8)
    var configuration = NetworkEngine.Configuration()
    configuration.scheme = .http
    configuration.port = Int(origin.port)
    configuration.delivery = .loopThread
    configuration.retry = .none
    configuration.timeouts.headers = .seconds(2)
    configuration.timeouts.stall = .seconds(2)
    configure(&configuration)
    do throws(NetworkError) {
      queue = try NetworkQueue(configuration: settings)
      configuration.queue = queue
      engine = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
    } catch {
      broken("an engine can be made: \(error)")
    }
  }

  /// The answer, or the error with the answer that came with it.
  func end(of operation: NetworkOperation) -> (response: NetworkResponse?, error: NetworkError?) {
    do throws(NetworkError) {
      return (try engine.wait(for: operation), nil)
    } catch {
      return (error.response, error)
    }
  }
}
