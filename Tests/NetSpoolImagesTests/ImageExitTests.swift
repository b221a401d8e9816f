#if Images
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import NetSpoolImages
@testable import TestSupport

/// What becomes of a process that ends while pictures are with its decoders.
struct ImageExitTests {
  /// libheif and the encoder behind it are taken apart by exit handlers of their own.
  @Test(arguments: 0..<(LongRun.isOn ? 50 : 2))
  func `exits in good order while AVIF thumbnails are made`(round: Int) async throws {
    await #expect(processExitsWith: .exitCode(7)) {
      // However busy the machine is, the exit waits for the pictures under way
      ExitGate.patience.store(60 * .second, ordering: .relaxed)
      let origin = try ScriptedOrigin()
      origin.fallback(.bytes(TestPicture.png(600, 400), type: "image/png"))
      let engine = try NetworkEngine()
      let isUnderWay = Latch()
      for number in 0..<100 {
        engine.thumbnail(of: origin.url("/\(number)"), format: .avif) { _ in isUnderWay.open() }
      }
      await isUnderWay.opened()
      exitMidway(7)
    }
  }
}
#endif
