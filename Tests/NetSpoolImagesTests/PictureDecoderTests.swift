#if Images
import NetSpool
import Testing

@testable import NetSpoolImages
@testable import TestSupport

/// What libvips makes of pictures, without an engine.
@Suite(.ownThreads)
struct PictureDecoderTests {
  typealias Format = ThumbnailTransform.Format

  private func make(
    _ bytes: [UInt8], _ transform: ThumbnailTransform = .init(), _ limits: ThumbnailLimits = .init(),
    isUnwanted: @escaping @Sendable () -> Bool = { false }
  ) throws(PictureRejection) -> Picture {
    try LibraryDecoder().make(ResponseBytes(bytes), transform, limits, isUnwanted: isUnwanted)
  }

  @Test(arguments: Format.allCases) func `every format is written, and read back`(_ format: Format) throws {
    let source = try TestPicture.made(format, of: TestPicture.png(400, 200))
    let picture = try make(source, ThumbnailTransform(maxSide: 100, format: format))
    let image = try #require(NetworkImage(ResponseBytes(picture.bytes)))
    #expect(image.format.mimeType == format.mimeType && image.isComplete)
    #expect(image.pixelWidth == 100 && image.pixelHeight == 50)
    #expect(picture.width == 100 && picture.height == 50)
    // Coarse as it is, the left half is still red.
    let corner = try pixel(picture.bytes)
    #expect(corner.red > 180 && corner.blue < 80, "\(corner)")
  }

  @Test func `the size is that of the longer side, and nothing is enlarged`() throws {
    let wide = TestPicture.png(600, 300)
    for (transform, width, height) in [
      (ThumbnailTransform(maxSide: 60), 60, 30), (ThumbnailTransform(maxSide: 60, fit: .cover), 60, 60),
      (ThumbnailTransform(maxSide: 5_000), 600, 300),
      (ThumbnailTransform(maxSide: 400, fit: .cover), 300, 300), (ThumbnailTransform(maxSide: 1), 1, 1),
    ] {
      let made = try make(wide, transform)
      #expect(made.width == width && made.height == height, "\(transform): \(made.width)x\(made.height)")
    }
  }

  /// libvips writes EXIF of its own into WebP, whatever it is told.
  @Test(arguments: Format.allCases) func `nothing but the picture is written`(_ format: Format) throws {
    let turned = TestPicture.turned(try TestPicture.made(.jpeg, of: TestPicture.png(240, 120)), 6)
    #expect(turned.contains(Array(TestPicture.secret.utf8)))
    let made = try make(turned, ThumbnailTransform(maxSide: 60, format: format)).bytes
    for word in [TestPicture.secret, "EXIF", "Exif", "ICCP", "iCCP", "XMP ", "http://ns.adobe.com"] {
      #expect(!made.contains(Array(word.utf8)), "\(word)")
    }
    #expect(try make(made).width == 30)
  }

  @Test func `a picture without its last rows is damaged`() throws {
    let source = TestPicture.png(64, 64, rows: 10)
    #expect(try #require(NetworkImage(ResponseBytes(source))).isComplete)
    #expect(throws: PictureRejection.damaged) { try make(source) }
  }

  /// As EXIF 2.32 has it, 4.6.4: which side of the stored picture is shown on the left, at the top.
  @Test(arguments: [
    (1, 120, 60, true), (2, 120, 60, false), (3, 120, 60, false), (4, 120, 60, true), (5, 60, 120, true),
    (6, 60, 120, true), (7, 60, 120, false), (8, 60, 120, false),
  ])
  func `a picture is turned as its EXIF says, and says so no more`(
    _ orientation: UInt8, _ width: Int, _ height: Int, _ isRedFirst: Bool
  ) throws {
    let jpeg = try TestPicture.made(.jpeg, of: TestPicture.png(240, 120))
    let picture = try make(
      TestPicture.turned(jpeg, orientation), ThumbnailTransform(maxSide: 120, format: .jpeg))
    #expect(picture.width == width && picture.height == height)
    let corner = try pixel(picture.bytes)
    #expect(isRedFirst == (corner.red > corner.blue), "\(corner)")
    #expect(!picture.bytes.contains(Array("Exif".utf8)))
  }

  /// libvips takes the colours that such a profile knows nothing of for transparency.
  @Test(arguments: ["GRAY", "CMYK"])
  func `a profile of another number of colours counts as none`(_ space: String) throws {
    let plain = try TestPicture.made(.jpeg, of: TestPicture.png(64, 64))
    let wanted = try make(plain, ThumbnailTransform(maxSide: 32, format: .png)).bytes
    let source = TestPicture.profiled(plain, TestPicture.profile(space))
    #expect(try make(source, ThumbnailTransform(maxSide: 32, format: .png)).bytes == wanted)
  }

  @Test func `a profile that fits counts`() throws {
    let plain = try TestPicture.made(.jpeg, of: TestPicture.png(64, 64))
    // What this profile calls red is blue.
    let corner = try pixel(
      make(
        TestPicture.profiled(plain, TestPicture.profile("RGB ")),
        ThumbnailTransform(maxSide: 32, format: .png)
      ).bytes)
    #expect(corner.blue > 180 && corner.red < 120, "\(corner)")
  }

  @Test func `what has too many pixels is refused by its header alone`() throws {
    var limits = ThumbnailLimits()
    limits.pixelsMax = 100 * 100
    #expect(throws: PictureRejection.pixels) { try make(TestPicture.png(100, 101), .init(), limits) }
    _ = try make(TestPicture.png(100, 100), .init(), limits)
    // A bomb: nothing of it was decoded, for there is nothing behind its header.
    let head =
      TestPicture.png(1, 1).prefix(16) + [0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF, 8, 2, 0, 0, 0]
    let bomb = Array(head) + Array(TestPicture.png(1, 1).dropFirst(29))
    #expect(throws: PictureRejection.pixels) { try make(bomb) }
  }

  /// Its screen is 2 by 2, and its frame 65,535 by 65,535.
  @Test func `a GIF whose frame is larger than its screen is refused by what would be decoded`() throws {
    var bytes = TestPicture.gif
    let frame = try #require(bytes.firstIndex(of: 0x2C))
    for index in frame + 5..<frame + 9 { bytes[index] = 0xFF }
    #expect(throws: PictureRejection.pixels) { try make(bytes) }
  }

  @Test func `what is no picture, or a format that is not decoded here, is refused`() throws {
    let svg = "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
    let bmp: [UInt8] = [
      0x42, 0x4D, 58, 0, 0, 0, 0, 0, 0, 0, 54, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 24, 0,
    ]
    for bytes in [Array(svg.utf8), Array("%PDF-1.7".utf8), bmp + [UInt8](repeating: 0, count: 28), []] {
      #expect(throws: PictureRejection.format) { try make(bytes) }
    }
    #expect(try make(TestPicture.gif, ThumbnailTransform(format: .png)).width == 2)
  }

  @Test func `a picture that is no longer wanted, or that takes too long, is given up`() throws {
    let large = TestPicture.noise(3_000, 2_000)
    #expect(throws: PictureRejection.cancelled) { try make(large, .init(maxSide: 2_000)) { true } }
    var limits = ThumbnailLimits()
    limits.timeMax = .zero
    #expect(throws: PictureRejection.time) { try make(large, .init(maxSide: 2_000), limits) }
    // Late by the clock, but it has not had the processor.
    let spent = LibraryDecoder { .seconds(5) }
    #expect(try spent.make(ResponseBytes(large), .init(), limits) { false }.width == 256)
  }

  /// Near the top left corner.
  private func pixel(_ bytes: [UInt8]) throws -> TestPicture.Pixel {
    let pixels = try #require(NetworkImage(ResponseBytes(bytes))).pixelsAndWait()
    let found = Array(pixels[4, 4])
    return (found[0], found[1], found[2])
  }

  @Test func `pixels are red, green, blue and opacity, row by row`() throws {
    let image = try #require(NetworkImage(ResponseBytes(TestPicture.png(8, 4))))
    let pixels = try image.pixelsAndWait()
    #expect(pixels.width == 8 && pixels.height == 4 && pixels.stride == 32 && pixels.bytes.count == 128)
    #expect(Array(pixels[0, 0]) == [230, 20, 20, 255] && Array(pixels[7, 3]) == [20, 20, 230, 255])
    #expect(try image.pixelsAndWait(maxSide: 4).width == 4)
    #expect(throws: NetworkError.self) { try image.pixelsAndWait(maxSide: 0) }
    var text = "\(pixels)"
    dump(pixels, to: &text)
    #expect(text.hasPrefix("8 x 4") && !text.contains("230"), "\(text)")
  }

  @Test func `a task gets pixels without blocking a thread, and may go`() async throws {
    let image = try #require(NetworkImage(ResponseBytes(TestPicture.png(8, 4))))
    let pixels = try await image.pixels(maxSide: 4, priority: .high)
    #expect(pixels.width == 4 && Array(pixels[0, 0])[0] > 150)
    await #expect(throws: NetworkError.self) { try await image.pixels(maxSide: 0) }
    var limits = ThumbnailLimits()
    limits.pixelsMax = 31
    let error = await #expect(throws: NetworkError.self) { try await image.pixels(limits: limits) }
    #expect(error?.code == .imageRejected && error?.reason == "pixels")
    let gone = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await image.pixels()
    }
    gone.cancel()
    await #expect(throws: CancellationError.self) { try await gone.value }
  }
}
#endif
