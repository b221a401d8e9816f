import NetSpoolTesting
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("A body as an image")
struct NetworkImageTests {
  @Test func `tells format size and bytes`() throws {
    let file = Thumbnail.png(7)
    let image = try #require(NetworkImage(ResponseBytes(file)))
    #expect(image.format == .png && image.format.mimeType == "image/png")
    #expect(image.pixelWidth == Thumbnail.side && image.pixelHeight == Thumbnail.side)
    #expect(image.isComplete)
    #expect([UInt8](image.body) == file)
  }

  @Test func `is not complete when cut off`() throws {
    let image = try #require(NetworkImage(ResponseBytes(Thumbnail.png(7).dropLast())))
    #expect(!image.isComplete && image.pixelWidth == Thumbnail.side)
  }

  @Test(arguments: ["", "<html>404</html>", "{}"]) func `is nil of other bodies`(_ text: String) {
    #expect(NetworkImage(ResponseBytes(Array(text.utf8))) == nil)
  }

  @Test func `that is none, or a part of one, says which by the cause of its error`() async throws {
    try await withEngine { engine, origin in
      origin.on("/none", .text("hello"))
      origin.on("/cut", .bytes(Array(Thumbnail.png(7).dropLast()), type: "image/png"))
      for (path, cause) in [("/none", NetworkError.Cause.notAnImage), ("/cut", .imageTruncated)] {
        let error = await #expect(throws: NetworkError.self) { try await engine.image(at: origin.url(path)) }
        #expect(error?.code == .decodeFailed && error?.cause == cause && error?.reason == cause.description)
      }
    }
  }
}
