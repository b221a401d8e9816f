import Testing

@testable import NetSpool

@Suite("What an image file says of itself")
struct ImageSniffTests {
  @Test(arguments: ImageFixture.all) func `is format size and completeness`(_ fixture: ImageFixture) throws {
    let info = try #require(sniff(fixture.bytes))
    #expect(info.format == fixture.format)
    #expect(info.pixelSize.width == fixture.width && info.pixelSize.height == fixture.height)
    #expect(info.isComplete)
  }

  @Test(arguments: ImageFixture.all) func `is not complete at any cut`(_ fixture: ImageFixture) throws {
    let whole = try #require(sniff(fixture.bytes))
    for end in fixture.bytes.indices {
      guard let cut = sniff(fixture.bytes[..<end]) else { continue }
      #expect(!cut.isComplete, "cut to \(end) of \(fixture.bytes.count)")
      #expect(cut.format == whole.format && cut.pixelSize == whole.pixelSize, "cut to \(end)")
    }
  }

  /// Once the size can be read it stays: a cut-off image is told from what is no image.
  @Test(arguments: ImageFixture.all) func `is known from the headers on`(_ fixture: ImageFixture) throws {
    let known = fixture.bytes.indices.map { sniff(fixture.bytes[..<$0]) != nil }
    let first = try #require(known.firstIndex(of: true))
    #expect(known[first...].allSatisfy { $0 })
  }

  static let junk = [
    [0], [0xFF], ascii("\r\n"), ascii("<!-- cached -->"), [UInt8](repeating: 0, count: 100),
    ImageFixture.baselineJPEG,
  ]

  @Test(arguments: ImageFixture.all, junk)
  func `is complete with junk behind`(_ fixture: ImageFixture, _ junk: [UInt8]) {
    let info = sniff(fixture.bytes + junk)
    #expect(info == sniff(fixture.bytes))
    #expect(info?.isComplete == true)
  }

  static let mediaTypes: [(ImageFormat, String)] = [
    (.png, "image/png"), (.jpeg, "image/jpeg"), (.gif, "image/gif"), (.webP, "image/webp"),
    (.avif, "image/avif"), (.heif, "image/heif"), (.bmp, "image/bmp"),
  ]

  @Test func `has the registered media type`() {
    #expect(Self.mediaTypes.map(\.0) == ImageFormat.allCases)
    for (format, type) in Self.mediaTypes { #expect(format.mimeType == type) }
  }
}
