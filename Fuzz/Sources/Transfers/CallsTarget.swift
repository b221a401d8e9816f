internal import Synchronization

@testable import NetSpool

/// What callers do, in any order: every operation that was enqueued ends once, and the loop closes empty.
///
/// Input: a byte per call; its high half chooses the call, its low half the operation or a number.
enum CallsTarget {
  static func run(_ bytes: [UInt8]) {
    let client = Client.shared
    client.origin.play(answers)
    let calls = Calls(client)
    for byte in bytes.prefix(64) { calls.perform(byte >> 4, Int(byte & 15)) }
    calls.finish()
  }

  private static let answers: [[UInt8]] = [
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\ncut", "",
    "HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n", "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", "HTTP/1.1 304 x\r\n\r\n",
    "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
  ].map { Array($0.utf8) }
}

extension Client {
  fileprivate static let shared = Client()
}

/// The operations of one run.
private final class Calls {
  private let client: Client
  private let queue: NetworkQueue
  private let engine: NetworkEngine
  private var operations: [NetworkOperation] = []
  private var endings: [Endings] = []

  init(_ client: Client) {
    self.client = client
    do throws(NetworkError) {
      queue = try NetworkQueue()
      var configuration = client.engine.configuration
      configuration.queue = queue
      engine = try NetworkEngine(host: "127.0.0.1", configuration: configuration)
    } catch {
      broken("an engine can be made: \(error)")
    }
  }

  func perform(_ call: UInt8, _ number: Int) {
    if call < 3 || operations.isEmpty { return make(number, isEnqueued: call > 0) }
    let operation = operations[number % operations.count]
    switch call {
    case 3: enqueue(number % operations.count)
    case 4: operation.cancel()
    case 5: operation.pause()
    case 6: operation.resume()
    case 7: operation.priority = number & 1 == 0 ? .high : .low
    case 8: operation.addDependency(operations[(number &* 7 &+ 3) % operations.count])
    case 9: queue.isSuspended.toggle()
    case 10: queue.maximumConcurrent = number + 1
    case 11: queue.sizing = number & 1 == 0 ? .fixed(number + 1) : .adaptive
    case 12: engine.cancel { $0.request.url.hasSuffix("/\(number)") }
    case 13: operation.configure { $0.coalesces.toggle() }
    case 14: _ = (queue.activity, operation.state, operation.curlCommand)
    default: if number == 15 { engine.cancelAll() }
    }
  }

  private func make(_ number: Int, isEnqueued: Bool) {
    guard operations.count < 12 else { return }
    let operation = engine.operation(
      path: "/\(number & 3)", method: number & 4 == 0 ? .get : .post,
      parameters: number & 8 == 0 ? [:] : ["a": "b"])
    let ending = Endings()
    operation.onCompletion { _ in ending.note() }.onError { _ in ending.note() }
    operations.append(operation)
    endings.append(ending)
    if isEnqueued { enqueue(operations.count - 1) }
  }

  private func enqueue(_ index: Int) {
    engine.enqueue(operations[index])
  }

  func finish() {
    // One that waits for itself and is never enqueued would be a leak of the caller's making.
    for index in operations.indices { enqueue(index) }
    queue.isSuspended = false
    for operation in operations { operation.resume() }
    engine.shutDownAndWait(deadline: .seconds(3))
    for (operation, ending) in zip(operations, endings) {
      require(ending.count == 1, "it has ended once: \(operation.state), \(ending.count)")
    }
    require(queue.driver.close() == 0, "no handle is left open")
  }
}

private final class Endings: Sendable {
  private let noted = Atomic(0)

  var count: Int { noted.load(ordering: .relaxed) }
  func note() { noted.add(1, ordering: .relaxed) }
}
