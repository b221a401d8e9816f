@testable import NetSpool

/// A whole exchange through the engine: libcurl reads the bytes from a real connection, and what comes out must
/// be what another reader finds in them. Input: what the origin sends.
enum TransferTarget {
  private static let client = Client { $0.redirects = .none }

  static func run(_ bytes: [UInt8]) {
    client.origin.play([bytes])
    let operation = client.engine.operation(path: "/")
    let (response, error) = client.end(of: operation)
    require(operation.state == .finished, "it has ended: \(operation.state)")
    guard let response else {
      require(error != nil, "it ends with an answer or an error")
      return
    }
    let isWhole = error == nil || error?.code == .status
    check(response, isWhole: isWhole, WireReader(bytes))
    require(isWhole || error?.code != .status, "an answer with an error status is whole")
  }

  private static func check(_ response: NetworkResponse, isWhole: Bool, _ wire: WireReader?) {
    guard isWhole else { return }
    guard let wire else { broken("what the engine takes for an answer has a whole head") }
    let head = response.head
    require(head.status == wire.head.status, "its status is the one that was sent")
    require(head.headers == wire.head.headers, "so are its fields")
    guard let sent = wire.body else { broken("its body had an end") }
    let body = Array<UInt8>(response.body)
    guard let coding = decoder(head) else {
      return require(body == sent, "its body is the one that was sent")
    }
    require(decoded(sent, coding) == body, "its body is what was packed")
  }

  private static func decoder(_ head: ResponseHead) -> ContentDecoder? {
    (try? ContentDecoder.make(for: head.headers)).flatMap { $0 }
  }

  private static func decoded(_ body: [UInt8], _ decoder: ContentDecoder) -> [UInt8]? {
    var output: [UInt8] = []
    do {
      try decoder.decode(body.rawBytes) {
        output.append($0)
        return true
      }
      try decoder.finish()
      return output
    } catch {
      return nil
    }
  }
}
