import Testing

@testable import NetSpool

/// What belongs to one attempt, and what its head has decided.
@Suite struct ExchangeTests {
  @Test func `only what asks for another exchange has a successor`() {
    var exchange = Exchange()
    #expect(!exchange.hasSuccessor)
    exchange.next = .fail(NetworkError(.badLocation))
    #expect(!exchange.hasSuccessor)
    for next in [Exchange.Next.retry(after: 1), .withoutExpect, .unconditional, .authorized] {
      exchange.next = next
      #expect(exchange.hasSuccessor)
    }
  }

  @Test func `a redirect changes all of what is asked for at once`() throws {
    let request = NetworkRequest(url: "http://a.example/from", method: .post, headers: ["X-Own": "1"])
    let history = ExchangeHistory(request)
    // When the first hop leads to another origin, and the second back
    let away = try history.hop(to: "http://b.example/there", status: 303, request, .standard)
    history.follow(away, defaults: ["Accept-Language": "de"])
    #expect(history.target.url == "http://b.example/there" && history.target.method == .get)
    #expect(history.target.isForeign && !history.target.keepsBody)
    #expect(history.target.headers.contains("Accept-Language") && !history.target.headers.contains("X-Own"))
    let back = try history.hop(to: "http://a.example/back", status: 307, request, .standard)
    history.follow(back, defaults: ["Accept-Charset": "utf-8"])
    // Then what has been led away stays without the engine's own fields, also when it is led back
    #expect(history.target.isForeign && !history.target.headers.contains("Accept-Charset"))
    #expect(history.redirects?.hops == 2)
  }

  @Test(arguments: [(200, false), (204, false), (304, true), (404, true), (503, true)])
  func `streams are told of a page that is no body`(status: Int, isRefused: Bool) {
    let head = ResponseHead(version: .http11, status: status, headers: Headers())
    let answer = NetworkResponse(
      head: head, body: .empty, source: .network, finalURL: "http://a.example/",
      metrics: NetworkResponse.Metrics(), streams: [])
    #expect((NetSpool.Ending(answer).refusal != nil) == isRefused)
    #expect(NetSpool.Ending(answer, failure: NetworkError(.bodyTruncated)).refusal?.code == .bodyTruncated)
  }
}
