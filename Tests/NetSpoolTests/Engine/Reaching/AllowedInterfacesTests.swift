import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// Two engines on one queue, of which one may use `wifi0` only, and two cables to the same neighbour.
@Suite(.enabled(if: Namespace.isPossible, "needs unshare(1) with network namespaces, and ip(8)"))
struct AllowedInterfacesTests {
  private func withTwo(
    name: String = #function,
    _ body: (_ limited: NetworkEngine, _ other: NetworkEngine, Neighbour) async throws -> Void
  ) async throws {
    try await Namespace.run("AllowedInterfacesTests", name: name) {
      let neighbour = try Neighbour()
      try Namespace.ip("route add default via \(Neighbour.address) dev near0 metric 10")
      try await withQueue { queue in
        let engines = try [["wifi*"], nil].map { interfaces in
          try NetworkEngine(host: Neighbour.beyond, on: queue) {
            ($0.scheme, $0.port, $0.allowedInterfaces) = (.http, Int(Neighbour.port), interfaces)
          }
        }
        try await body(engines[0], engines[1], neighbour)
      }
    }
  }

  @Test func `the one waits for its interface while the other goes on`() async throws {
    try await withTwo { limited, other, neighbour in
      let log = ReachabilityLog(of: limited)
      #expect(await limited.settledReachability() == .noRoute)
      let waiting = limited.start("/")
      let late = limited.operation(path: "/late")
      late.timeouts = .queueDeadline(.milliseconds(200))
      let error = await limited.end(of: late).error
      #expect(error?.code == .offline && error?.reason == "allowedInterfaces" && error?.isRetrySafe == true)
      #expect(await other.get("/").end().text == "ok")
      #expect(waiting.state == .queued && neighbour.peers == ["192.0.2.2"])
      // When its interface comes, although others have the better route
      try neighbour.plugInAgain()
      try Namespace.ip("route add default via 203.0.113.1 dev wifi0 metric 20")
      #expect(await waiting.end().text == "ok")
      await log.becomes(.reachable)
      #expect(neighbour.peers == ["192.0.2.2", "203.0.113.2"])
      #expect(await other.get("/").end().text == "ok")
      #expect(neighbour.peers.last == "192.0.2.2")
      // And when it goes again
      try Namespace.ip("link set wifi0 down")
      await log.becomes(.noRoute)
      let next = limited.start("/next")
      #expect(await other.get("/").end().text == "ok" && next.state == .queued)
      next.cancel()
      #expect(await next.end().code == .cancelled)
    }
  }

  @Test func `an operation that has begun waits for its interface no longer than another`() async throws {
    try await withTwo { limited, _, neighbour in
      try neighbour.plugInAgain()
      try Namespace.ip("route add default via 203.0.113.1 dev wifi0 metric 20")
      // Given a port at which nobody listens, and that the interface goes before the second attempt
      let operation = limited.operation(url: "http://\(Neighbour.beyond):9/")
      operation.timeouts = .queueDeadline(.seconds(2))
      operation.configure { $0.retry = .attempts(2, pause: .seconds(1)) }
      operation.onAttempt { _, _ in try? Namespace.ip("link set wifi0 down") }
      // On a busy machine the deadline comes before the first attempt.
      let code = await limited.end(of: operation).code
      #expect(code == .offline || code == .timedOut)
    }
  }

  @Test func `this machine is reached always`() async throws {
    try await withTwo { limited, _, _ in
      let origin = try ScriptedOrigin(answering: .text("here"))
      #expect(await limited.end(of: limited.operation(url: origin.url("/"))).text == "here")
    }
  }
}

@Suite struct InterfaceRuleTests {
  @Test(arguments: [["*"], ["lo"], ["wl*", "lo"], ["enx00112233445*"]])
  func `takes names`(_ names: [String]) throws {
    #expect(NetworkEngine.refusal { $0.allowedInterfaces = names } == nil)
  }

  @Test(arguments: [[], [""], ["eth 0"], ["eth0", ""], ["a/b"], ["sixteen-letters-"], ["e*h"], ["eth0\n"]])
  func `refuses what no interface is called`(_ names: [String]) {
    let error = NetworkEngine.refusal { $0.allowedInterfaces = names }
    #expect(error?.code == .invalidConfiguration && error?.reason == "allowedInterfaces")
  }

  @Test func `together with a Unix socket it is a contradiction`() {
    #expect(NetworkEngine.refusal { ($0.allowedInterfaces, $0.unixSocket) = (["lo"], "/run/socket") } != nil)
  }
}
