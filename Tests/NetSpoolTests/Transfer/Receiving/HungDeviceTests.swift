import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

/// A device whose threads all hang, as on a mount that answers no more.
@Suite(.measured) struct HungDeviceTests {
  static let hasTwo: Bool = {
    let devices = MountTable.current()
    return devices.device(of: TestFiles.fast) != devices.device(of: TestFiles.temporary)
  }()

  @Test(.enabled(if: hasTwo)) func `stops streams to its own files alone`() async throws {
    try await withQueue({ $0.loops = .fixed(1) }) { queue in
      let (hung, sound) = (try TestFolder(), try TestFolder(in: TestFiles.fast))
      let origin = try ScriptedOrigin()
      origin.on("/file", .pattern(300_000))
      let engine = try NetworkEngine(to: origin, on: queue) { $0.delivery = .loopThread }
      // Given both threads of a device that wait for it
      let (gate, begun) = (Latch(), Counter())
      defer { gate.open() }
      queue.driver.eachLoop { core in
        let device = core.sinks.devices.device(of: hung.path)
        for _ in 0..<2 {
          core.sinks.worker.run(
            on: Worker.Lane(device: device),
            {
              begun.add()
              gate.block()
            }, completion: {})
        }
      }
      #expect(await until { begun.value == 2 })
      // When files are written there and elsewhere
      func file(_ folder: TestFolder, _ name: String) -> NetworkOperation {
        engine.operation(path: "/file", parameters: ["n": name])
          .addDownloadStream(FileDownloadStream(path: folder[name]))
      }
      let stuck = (0..<20).map { file(hung, "stuck\($0)") }
      for operation in stuck { engine.enqueue(operation) }
      #expect(await origin.waitForHits("/file", 16))
      for number in 0..<5 { #expect(await engine.end(of: file(sound, "\(number)")).response?.status == 200) }
      // Then the other device's come as ever, the engine's own and those of others
      try await expectAnswer(on: queue)
      #expect(stuck.allSatisfy { $0.outcome == nil })
      // And the rest when it goes on
      gate.open()
      for operation in stuck { #expect(await operation.end().response?.status == 200) }
    }
  }
}
