import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Out of local ports", .needsNamespaces, InNamespace())
struct LocalPortTests {
  @Test func `fails what finds no port and recovers`() async throws {
    // Given a network, the test's own, with fifty ports, and an origin that takes its time
    try TestFiles.write(Array("40000 40049".utf8), to: "/proc/sys/net/ipv4/ip_local_port_range")
    try await withWire({ $0.retry = .none }, alone: true) { wire in
      wire.queue.sizing = .fixed(64)
      wire.origin.fallback(.text("ok"))
      wire.origin.hold("/held")
      // When more connections are wanted at once than there are ports
      let operations = (0..<200).map { wire.operation("/held?\($0)") }
      let tally = Tally()
      for operation in operations { tally.watch(operation) }
      let before = cpuSeconds()
      let batch = wire.engine.enqueue(operations)
      #expect(await wire.origin.waitForWaiting("/held", 40))
      while tally.count("connectFailed") == 0 { await moment() }
      wire.origin.release("/held")
      let endings = await batch.results
      // Then those without a port say so, the others end well, and nobody tries again and again
      for error in endings.compactMap(\.error) {
        #expect(error.code == .connectFailed && error.reason == "addressInUse", "\(error)")
        #expect(error.isRetrySafe)
      }
      #expect((40..<200).contains(tally.count("completed")))
      #expect(tally.ended == 200 && tally.isOneEach && cpuSeconds() - before < 2)
      #expect(await wire.result(of: wire.operation("/again")).text == "ok")
    }
  }
}
