import NetSpoolTesting
import Testing

@testable import NetSpool

@Suite("A body as an image")
struct NetworkImageTests {
  private func body(_ bytes: [UInt8]) -> ResponseBytes { ResponseBytes(bytes) }

  @Test func `tells format size and bytes`() throws {
    let file = Thumbnail.png(7)
    let image = try #require(NetworkImage(body(file)))
    #expect(image.format == .png && image.format.mimeType == "image/png")
    #expect(image.pixelWidth == Thumbnail.side && image.pixelHeight == Thumbnail.side)
    #expect(image.isComplete)
    #expect([UInt8](image.body) == file)
  }

  @Test func `is not complete when cut off`() throws {
    let image = try #require(NetworkImage(body(Thumbnail.png(7).dropLast())))
    #expect(!image.isComplete && image.pixelWidth == Thumbnail.side)
  }

  @Test(arguments: ["", "<html>404</html>", "{}"]) func `is nil of other bodies`(_ text: String) {
    #expect(NetworkImage(body(Array(text.utf8))) == nil)
  }
}
