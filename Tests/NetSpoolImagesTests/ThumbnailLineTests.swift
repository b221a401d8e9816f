#if Images
import Glibc
import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import NetSpoolImages
@testable import TestSupport

/// Pictures that are with a decoder, or wait for one: who ends them, who waits for them, and who goes first.
struct ThumbnailLineTests {
  private typealias Watched = (work: ThumbnailOperation, ended: Latch)

  /// Thumbnails of these sides for one decoder. How one ends goes to the journal, and then opens its latch.
  private func line(
    _ bench: ImagesBench, sides: Int...
  ) -> (decoder: GatedDecoder, endings: Journal<NetworkError.Code?>, all: [Watched]) {
    bench.serve("/a", TestPicture.png(300, 150))
    let (decoder, endings) = (GatedDecoder(), Journal<NetworkError.Code?>())
    let pool = PicturePool(decoder, width: 1)
    let all = sides.map { side -> Watched in
      let latch = Latch()
      let operation = bench.engine.operation(url: bench.url("/a"))
      operation.tag = "album"
      let work = ThumbnailOperation(
        operation, of: bench.engine, ThumbnailTransform(maxSide: side), .init(), on: pool
      ) { result in
        if case .failure(let error) = result { endings.add(error.code) } else { endings.add(nil) }
        latch.open()
      }
      return (work, latch)
    }
    return (decoder, endings, all)
  }

  /// Begins it, and waits until the picture is in the decoders' line.
  private func fetch(_ work: ThumbnailOperation) async {
    work.start()
    await withCheckedContinuation { continuation in work.fetch.onFinal { _ in continuation.resume() } }
  }

  @Test(arguments: ["tag", "where", "all", "shutDown"])
  func `a cancel by the engine reaches pictures that are with a decoder or wait for one`(how: String)
    async throws
  {
    try await ImagesBench.run { bench in
      let (decoder, endings, both) = line(bench, sides: 64, 64)
      await fetch(both[0].work)
      await decoder.began.opened()
      await fetch(both[1].work)
      bench.engine.cancel(tag: "another")
      switch how {
      case "tag": bench.engine.cancel(tag: "album")
      case "where": bench.engine.cancel { $0.tag == "album" }
      case "all": bench.engine.cancelAll()
      default:
        await bench.engine.shutDown(deadline: .milliseconds(100))
        #expect(endings.count == 2)
      }
      for one in both { await one.ended.opened() }
      await decoder.gaveUp.opened()
      let code = how == "shutDown" ? NetworkError.Code.engineClosed : .cancelled
      #expect(endings.entries == [code, code])
      #expect(await bench.engine.configuration.queue.drain(deadline: .seconds(60)))
    }
  }

  @Test func `a shut down and a drain wait for pictures that are being made`() async throws {
    try await ImagesBench.run { bench in
      let (decoder, endings, all) = line(bench, sides: 64)
      await fetch(all[0].work)
      await decoder.began.opened()
      #expect(await !bench.engine.configuration.queue.drain(deadline: .milliseconds(50)))
      async let isShut: Void = bench.engine.shutDown(deadline: .seconds(60))
      decoder.gate.open()
      await isShut
      #expect(endings.entries == [.imageRejected])
    }
  }

  @Test func `a priority that changes counts in the decoders' line`() async throws {
    try await ImagesBench.run { bench in
      let (decoder, _, all) = line(bench, sides: 1, 2, 3, 4)
      await fetch(all[0].work)
      await decoder.began.opened()
      for one in all.dropFirst() { await fetch(one.work) }
      all[3].work.fetch.priority = .urgent
      all[1].work.fetch.priority = .low
      decoder.gate.open()
      for one in all { await one.ended.opened() }
      #expect(decoder.sides.entries == [1, 4, 3, 2])
    }
  }

  @Test func `cancelling ends it in the decoders' line and under the decoder's hands`() async throws {
    try await ImagesBench.run { bench in
      let (decoder, endings, both) = line(bench, sides: 64, 64)
      both[0].work.start()
      await decoder.began.opened()
      both[1].work.start()
      for one in both.reversed() {
        one.work.cancel()
        await one.ended.opened()
      }
      await decoder.gaveUp.opened()
      #expect(endings.entries == [.cancelled, .cancelled])
    }
  }
}

extension ThumbnailLineTests {
  /// The loop is asked for its snapshot again and again while every processor decodes, and works next to nothing itself.
  @Test(.notSanitized(.timeIsNoMeasure))
  func `the loop answers at once while all decoders are busy`() async throws {
    let large = try TestPicture.made(.jpeg, of: TestPicture.noise(1_152, 868))
    try await ImagesBench.run { bench in
      bench.origin.on("/large", Answer.bytes(large, type: "image/jpeg"))
      let queue = bench.engine.configuration.queue
      let clock = await withCheckedContinuation { continuation in
        queue.driver.perform { _ in continuation.resume(returning: WorkClock.ofThisThread) }
      }
      let start = (clock.now, WorkClock.ofProcess.now)
      let count = LongRun.isOn ? 1_000 : 100
      let (done, ended) = (Counter(), Latch())
      bench.origin.hold("/large")
      for index in 0..<count {
        bench.engine.thumbnail(of: bench.url("/large?\(index)"), maxSide: 256, format: .jpeg) { _ in
          if done.add() == count { ended.open() }
        } onError: {
          Issue.record("\($0)")
          if done.add() == count { ended.open() }
        }
      }
      var looks = 0
      while done.value < count {
        _ = await queue.snapshot
        looks += 1
        if looks == 2 { bench.origin.release("/large") }
        try await Task.sleep(for: .milliseconds(1))
      }
      await ended.opened()
      let (loop, process) = (clock.now - start.0, WorkClock.ofProcess.now - start.1)
      #expect(loop * 5 < process, "the loop worked \(loop) of \(process)")
    }
  }
}

/// Holds a picture until its gate is open, or nobody wants it; then it refuses it.
private final class GatedDecoder: PictureDecoder {
  let began = Latch()
  let gate = Latch()
  let gaveUp = Latch()
  let sides = Journal<Int>()

  func make(
    _ body: ResponseBytes, _ transform: ThumbnailTransform, _ limits: ThumbnailLimits,
    isUnwanted: @escaping @Sendable () -> Bool
  ) throws(PictureRejection) -> Picture {
    sides.add(transform.maxSide)
    began.open()
    while !gate.isOpen, !isUnwanted() { sched_yield() }
    if gate.isOpen { throw .damaged }
    gaveUp.open()
    throw .cancelled
  }

  func threadBegins() {}

  func threadEnds() {}
}
#endif
