#if Images
import Dispatch
import NetSpool
import NetSpoolTesting
import Testing

@testable import NetSpoolImages
@testable import TestSupport

/// From a URL to a thumbnail, by way of an engine and its cache.
struct ThumbnailTests {
  private let picture = TestPicture.png(300, 150)

  @Test func `a thumbnail is fetched, made, and kept: the second one is a look into the cache`() async throws
  {
    try await ImagesBench.run(caches: true) { bench in
      bench.serve("/a", picture)
      let first = try await bench.engine.thumbnail(of: bench.url("/a"), maxSide: 100)
      #expect(first.image.pixelWidth == 100 && first.image.pixelHeight == 50 && first.image.format == .webP)
      #expect(!first.isFromCache && first.sourceBytes == picture.count && first.finalURL == bench.url("/a"))
      let served = bench.engine.cacheStatistics?.served
      let second = try await bench.engine.thumbnail(of: bench.url("/a"), maxSide: 100)
      #expect(
        second.isFromCache && second.sourceBytes == picture.count
          && [UInt8](second.body) == [UInt8](first.body))
      #expect(bench.engine.cacheStatistics?.served == served.map { $0 + 1 })
      // Another transform is another entry; the picture is there.
      let third = try await bench.engine.thumbnail(
        of: bench.url("/a"), maxSide: 50, format: .jpeg, fit: .cover)
      #expect(!third.isFromCache && third.image.format == .jpeg && third.image.pixelHeight == 50)
      #expect(bench.origin.requestCount == 1)
    }
  }

  @Test func `a kept thumbnail waits as its fetch would, and a closed engine gives none`() async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.serve("/a", picture)
      _ = try await bench.engine.thumbnail(of: bench.url("/a"))
      let heard = Journal<String>()
      func ask(_ fetch: NetworkOperation) {
        bench.engine.thumbnail(of: fetch, as: ThumbnailTransform()) {
          heard.add($0.isFromCache ? "kept" : "made")
        } onError: {
          heard.add("\($0.code)")
        }
      }
      let paused = bench.engine.operation(url: bench.url("/a"))
      paused.pause()
      ask(paused)
      #expect(await !bench.engine.configuration.queue.drain(deadline: .milliseconds(20)))
      #expect(heard.entries.isEmpty)
      paused.resume()
      #expect(await until { heard.entries.count == 1 })
      let cancelled = bench.engine.operation(url: bench.url("/a"))
      cancelled.cancel()
      ask(cancelled)
      #expect(await until { heard.entries.count == 2 })
      await bench.engine.shutDown()
      ask(bench.engine.operation(url: bench.url("/a")))
      #expect(await until { heard.entries.count == 3 })
      #expect(heard.entries == ["kept", "cancelled", "engineClosed"])
      #expect(bench.origin.requestCount == 1)
    }
  }

  @Test func `a thumbnail that is cancelled while it is looked up leaves its queue idle`() async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.serve("/a", picture)
      _ = try await bench.engine.thumbnail(of: bench.url("/a"))
      let (endings, ended, isLookedUp) = (Journal<NetworkError.Code?>(), Latch(), Flag())
      let work = ThumbnailOperation(
        bench.engine.operation(url: bench.url("/a")), of: bench.engine, ThumbnailTransform(), .init(),
        on: .shared
      ) { result in
        if case .failure(let error) = result { endings.add(error.code) } else { endings.add(nil) }
        ended.open()
      }
      bench.onTime.value = {
        isLookedUp.set()
        work.cancel()
      }
      work.start()
      bench.onTime.value = nil
      await ended.opened()
      #expect(await bench.engine.configuration.queue.drain(deadline: .seconds(60)))
      #expect(isLookedUp.isSet && endings.entries == [.cancelled] && bench.origin.requestCount == 1)
    }
  }

  @Test func `a drain waits for the handler of a kept one`() async throws {
    let own = DispatchQueue(label: "own")
    try await ImagesBench.run(caches: true) {
      $0.delivery = .queue(own)
    } _: { bench in
      bench.serve("/a", picture)
      _ = try await bench.engine.thumbnail(of: bench.url("/a"))
      let (latch, seen) = (Latch(), Counter())
      own.async { latch.block() }
      bench.engine.thumbnail(of: bench.url("/a")) { _ in seen.add() }
      #expect(await !bench.engine.configuration.queue.drain(deadline: .milliseconds(20)))
      latch.open()
      #expect(await bench.engine.configuration.queue.drain(deadline: .seconds(60)))
      #expect(seen.value == 1)
    }
  }

  @Test
  func `what is kept holds as long as the picture, also when the origin has confirmed that`() async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.origin.on("/a") { [picture] request in
        let isSame = request.header("If-None-Match") == "\"1\""
        return (isSame ? Answer.status(304) : .bytes(picture)).header("Cache-Control", "max-age=60")
          .header("ETag", "\"1\"")
      }
      _ = try await bench.engine.thumbnail(of: bench.url("/a"))
      bench.clock.value += 61_000
      // One question, no new picture, nothing decoded.
      #expect(try await bench.engine.thumbnail(of: bench.url("/a")).isFromCache)
      #expect(bench.origin.requestCount == 2)
      bench.serve("/a", TestPicture.png(80, 80), etag: "\"2\"")
      bench.clock.value += 61_000
      let other = try await bench.engine.thumbnail(of: bench.url("/a"))
      #expect(!other.isFromCache && other.image.pixelHeight == 80)
    }
  }

  @Test(arguments: ["no-cache", "max-age=0", "max-age=0, must-revalidate"], [true, false])
  func `what the origin confirms each time is not made each time`(
    _ control: String, _ namesItself: Bool
  ) async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.origin.on("/a") { [picture] request in
        let isSame = request.header("If-None-Match") == "\"1\""
        if isSame, !namesItself { return Answer.status(304) }
        return (isSame ? Answer.status(304) : .bytes(picture)).header("Cache-Control", control)
          .header("ETag", "\"1\"")
      }
      for count in 1...3 {
        let made = try await bench.engine.thumbnail(of: bench.url("/a"))
        #expect(made.isFromCache == (count > 1) && bench.origin.requestCount == count)
        #expect(made.response.source == (count > 1 ? .revalidated : .network))
        #expect(made.sourceBytes == picture.count && made.response.metrics.total > .zero)
      }
      bench.serve("/a", TestPicture.png(80, 80), etag: "\"2\"")
      let other = try await bench.engine.thumbnail(of: bench.url("/a"))
      #expect(!other.isFromCache && other.image.pixelHeight == 80)
    }
  }

  @Test func `a handler of every ending hears of thumbnails that need no request`() async throws {
    let heard = Journal<String>()
    try await ImagesBench.run(caches: true) {
      $0.onEnd = { operation, result, _ in
        let response = try? result.get()
        heard.add(
          "\(operation.request.url.suffix(2)) \(response?.source.rawValue ?? "") \(response?.body.count ?? 0) "
            + "\(response?.headers.contains("NetSpool-Made-Of") ?? true)")
      }
    } _: { bench in
      bench.serve("/a", picture)
      let made = try await bench.engine.thumbnail(of: bench.url("/a"))
      _ = try await bench.engine.thumbnail(of: bench.url("/a"))
      #expect(heard.entries == ["/a network \(picture.count) false", "/a cache \(made.body.count) false"])
    }
  }

  @Test(arguments: [
    (PictureRejection.tooManyOpenFiles, "tooManyOpenFiles decoder"),
    (.unstarted, "engineStartFailed decoder"), (.crashed, "imageRejected crashed"),
  ])
  func `a decoder that cannot be started is no fault of the picture`(
    _ rejection: PictureRejection, _ words: String
  ) async throws {
    try await ImagesBench.run { bench in
      bench.serve("/a", picture)
      let heard = Journal<String>()
      let latch = Latch()
      ThumbnailOperation(
        bench.engine.operation(url: bench.url("/a")), of: bench.engine, ThumbnailTransform(), .init(),
        on: PicturePool(RefusingDecoder(rejection: rejection), width: 1)
      ) { result in
        if case .failure(let error) = result { heard.add("\(error.code) \(error.reason ?? "")") }
        latch.open()
      }.start()
      await latch.opened()
      #expect(heard.entries == [words])
    }
  }

  @Test func `a picture that another has replaced leaves no thumbnail behind`() async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.serve("/a", picture)
      _ = try await bench.engine.thumbnail(of: bench.url("/a"))
      bench.serve("/a", TestPicture.png(40, 20), etag: "\"2\"")
      var request = NetworkRequest(url: bench.url("/a"))
      request.cachePolicy = .reload
      _ = try await bench.engine.response(for: request)
      let made = try await bench.engine.thumbnail(of: bench.url("/a"))
      #expect(!made.isFromCache && made.image.pixelWidth == 40)
    }
  }

  @Test func `thumbnails go with their picture: by URL, by prefix, by tag, and all`() async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.serve("/a", picture)
      let removals: [(NetworkEngine) -> Void] = [
        { $0.removeCached(url: bench.url("/a")) }, { $0.removeCached(prefix: bench.url("/")) },
        { $0.removeCached(tag: "album") }, { $0.emptyCache() },
      ]
      for (index, remove) in removals.enumerated() {
        for isFromCache in [false, true] {
          let operation = bench.engine.operation(url: bench.url("/a"))
          operation.tag = "album"
          let made = try await bench.engine.thumbnail(of: operation, as: ThumbnailTransform())
          #expect(made.isFromCache == isFromCache, "removal \(index)")
        }
        remove(bench.engine)
      }
      #expect(bench.origin.requestCount == removals.count)
    }
  }

  @Test func `what may not be stored is made each time, and users share nothing`() async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.origin.on("/no", Answer.bytes(picture).header("Cache-Control", "no-store"))
      bench.origin.on("/mine", Answer.bytes(picture).header("Cache-Control", "private, max-age=60"))
      for _ in 0..<2 { #expect(try await !bench.engine.thumbnail(of: bench.url("/no")).isFromCache) }
      for (scope, isFromCache) in [("a", false), ("a", true), ("b", false)] {
        let operation = bench.engine.operation(url: bench.url("/mine")).configure {
          $0.credentialScope = scope
        }
        let made = try await bench.engine.thumbnail(of: operation, as: ThumbnailTransform())
        #expect(made.isFromCache == isFromCache, "\(scope)")
      }
    }
  }

  @Test func `a picture that varies has a thumbnail for each of its forms`() async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.origin.on("/a") { request in
        let side = request.header("X-Side").flatMap { Int($0) } ?? 10
        return Answer.bytes(TestPicture.png(side, side)).header("Cache-Control", "max-age=60")
          .header("Vary", "X-Side")
      }
      for isFromCache in [false, true] {
        for side in [20, 30] {
          let operation = bench.engine.operation(url: bench.url("/a")).setHeader("X-Side", "\(side)")
          let made = try await bench.engine.thumbnail(of: operation, as: ThumbnailTransform())
          #expect(made.isFromCache == isFromCache && made.image.pixelWidth == side)
        }
      }
    }
  }

  @Test func `where a redirect leads, nothing is made twice`() async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.serve("/a", picture)
      bench.origin.on("/from", Answer.redirect(to: "/a", status: 301))
      let made = try await bench.engine.thumbnail(of: bench.url("/from"))
      #expect(!made.isFromCache && made.finalURL == bench.url("/a"))
      #expect(try await bench.engine.thumbnail(of: bench.url("/from")).isFromCache)
      #expect(try await bench.engine.thumbnail(of: bench.url("/a")).isFromCache)
    }
  }

  @Test func `what is no picture, is cut off or too large is an error with its reason`() async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.serve("/page", Array("<html>".utf8))
      bench.serve("/cut", picture.dropLast(20))
      bench.serve("/large", picture)
      var limits = ThumbnailLimits()
      limits.pixelsMax = 1_000
      #expect(await bench.failure("/page") == "decodeFailed notAnImage")
      #expect(await bench.failure("/cut") == "decodeFailed imageTruncated")
      #expect(await bench.failure("/large", limits) == "imageRejected pixels")
      #expect(await bench.failure("/gone")?.hasPrefix("status") == true)
      var wrong = ThumbnailTransform()
      wrong.maxSide = 0
      await #expect(throws: NetworkError.self) {
        try await bench.engine.thumbnail(of: bench.engine.operation(url: bench.url("/a")), as: wrong)
      }
    }
  }

  @Test func `a thumbnail says what it is, and no secret`() async throws {
    try await ImagesBench.run { bench in
      bench.serve("/a", picture)
      let made = try await bench.engine.thumbnail(of: bench.url("/a?token=secret"), maxSide: 100)
      var text = "\(made)"
      #expect(text.hasPrefix("image/webp, 100 x 50, \(made.body.count) bytes, of 200 HTTP/1.1"), "\(text)")
      dump(made, to: &text)
      #expect(!text.contains("secret") && text.utf8.count < 600, "\(text)")
    }
  }

  @Test
  func `equal requests share one exchange, and closures hear of it on the delivery target`() async throws {
    try await ImagesBench.run(caches: true) { bench in
      bench.serve("/a", picture)
      bench.origin.hold("/a")
      let done = Journal<Int>()
      let all = Latch()
      for _ in 0..<4 {
        bench.engine.thumbnail(of: bench.url("/a"), maxSide: 64) { made in
          done.add(made.image.pixelWidth)
          if done.count == 4 { all.open() }
        } onError: {
          Issue.record("\($0)")
        }
      }
      #expect(await bench.origin.waitForWaiting("/a", 1))
      bench.origin.releaseAll()
      await all.opened()
      #expect(done.entries == [64, 64, 64, 64] && bench.origin.requestCount == 1)
    }
  }

  @Test func `cancelling ends it while it is fetched, and a tag reaches it`() async throws {
    try await ImagesBench.run { bench in
      bench.serve("/a", picture)
      bench.origin.hold("/a")
      let task = Task { try await bench.engine.thumbnail(of: bench.url("/a")) }
      #expect(await bench.origin.waitForWaiting("/a", 1))
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      let tagged = bench.engine.operation(url: bench.url("/a") + "?b")
      tagged.tag = "album"
      bench.origin.hold("/a")
      let ended = Journal<NetworkError.Code>()
      let latch = Latch()
      bench.engine.thumbnail(of: tagged, as: ThumbnailTransform()) { _ in
        latch.open()
      } onError: {
        ended.add($0.code)
        latch.open()
      }
      bench.engine.cancel(tag: "album")
      await latch.opened()
      #expect(ended.entries == [.cancelled])
    }
  }
}

struct RefusingDecoder: PictureDecoder {
  let rejection: PictureRejection

  func make(
    _ body: ResponseBytes, _ transform: ThumbnailTransform, _ limits: ThumbnailLimits,
    isUnwanted: @escaping @Sendable () -> Bool
  ) throws(PictureRejection) -> Picture { throw rejection }

  func threadBegins() {}

  func threadEnds() {}
}
#endif
