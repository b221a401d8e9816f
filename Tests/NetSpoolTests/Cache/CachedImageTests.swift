import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// Pictures are kept, and what is no whole picture is not.
struct CachedImageTests {
  @Test(arguments: ["image/png", "text/html", "image/jpeg"])
  func `a whole one, whatever it is called`(type: String) async throws {
    try await withCache { engine, origin, _ in
      let bytes = Thumbnail.png(1)
      origin.on("/a", .bytes(bytes, type: type).header("Cache-Control", "max-age=1000"))
      for isCached in [false, true] {
        let picture = try await engine.picture(origin.url("/a")).get()
        #expect(picture.image.format == .png && picture.image.isComplete)
        #expect(picture.image.pixelWidth == Thumbnail.side && [UInt8](picture.image.body) == bytes)
        #expect(picture.url == origin.url("/a") && picture.isCached == isCached)
      }
      #expect(origin.requestCount == 1)
    }
  }

  @Test(arguments: [true, false]) func `what is none is an error, and not kept`(isCut: Bool) async throws {
    try await withCache { engine, origin, _ in
      let bytes = isCut ? Array(Thumbnail.png(1).dropLast(20)) : Array("<html>sorry</html>".utf8)
      let answer = Answer.bytes(bytes, type: "image/png").header("Cache-Control", "max-age=1000")
      origin.on("/a", answer)
      origin.on("/moved", .redirect(to: "/there"))
      origin.on("/there", answer)
      for (path, target) in [("/a", "/a"), ("/moved", "/there")] {
        let error = try #require(await engine.picture(origin.url(path)).error)
        #expect(error.code == .decodeFailed && error.reason == (isCut ? "imageTruncated" : "notAnImage"))
        #expect(error.response?.status == 200)
        #expect(await engine.isMissing(target))
      }
      origin.on("/a", .bytes(Thumbnail.png(2)).header("Cache-Control", "max-age=1000"))
      let next = try await engine.picture(origin.url("/a")).get()
      #expect(!next.isCached)
    }
  }

  @Test func `an answer that has moved knows where it came from and its operation`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", .redirect(to: "/there"))
      origin.on("/there", .bytes(Thumbnail.png(1)).header("Cache-Control", "max-age=1000"))
      for _ in 0..<2 {
        let picture = try await engine.picture(origin.url("/a")).get()
        #expect(picture.url == origin.url("/a") && picture.image.finalURL == origin.url("/there"))
        #expect(picture.image.operationID == picture.operationID.value)
      }
    }
  }

  @Test func `a picture with a tag is cancelled and removed by it`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", .bytes(Thumbnail.png(1)).header("Cache-Control", "max-age=1000"))
      let first = Latch()
      engine.image(at: origin.url("/a"), tag: "album") { _, _, _ in first.open() }
      await first.opened()
      engine.removeCached(tag: "album")
      #expect(await engine.isMissing("/a"))
      origin.hold("/b")
      let ended = Latch()
      engine.image(at: origin.url("/b"), tag: "album", onCompletion: { _, _, _ in }) { error in
        #expect(error.code == .cancelled)
        ended.open()
      }
      #expect(await origin.waitForWaiting("/b", 1))
      engine.cancel(tag: "album")
      await ended.opened()
    }
  }

  @Test func `a status is an error of its own`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/none", .status(404))
      #expect(await engine.picture(origin.url("/none")).code == .status)
    }
  }
}

private struct Picture: Sendable {
  let image: NetworkImage
  let url: String
  let isCached: Bool
  let operationID: Variable<UInt64>
}

extension NetworkEngine {
  fileprivate func picture(_ url: String) async -> Result<Picture, NetworkError> {
    let id = Variable<UInt64>(0)
    return await withCheckedContinuation { continuation in
      let operation = image(
        at: url,
        onCompletion: {
          continuation.resume(returning: .success(Picture(image: $0, url: $1, isCached: $2, operationID: id)))
        },
        onError: { continuation.resume(returning: .failure($0)) })
      id.value = operation.id
    }
  }
}
