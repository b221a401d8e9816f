#if Images
import NetSpool
import Testing

@testable import NetSpoolImages
@testable import TestSupport

/// Damaged pictures come out as a picture or as an error: no crash, no hang, and no memory that stays.
/// `NETSPOOL_LONG=1` tries 1,000 of each format.
@Suite(.ownThreads)
struct HostilePictureTests {
  private static let count = LongRun.isOn ? 1_000 : 200

  private static func sources(_ format: ThumbnailTransform.Format?) throws -> [UInt8] {
    guard let format else { return TestPicture.gif }
    return try TestPicture.made(format, of: TestPicture.noise(64, 48))
  }

  @Test(arguments: ThumbnailTransform.Format.allCases + [nil])
  func `mutated pictures are made or refused`(_ format: ThumbnailTransform.Format?) throws {
    let source = try Self.sources(format)
    var random = SplitMix64(seed: 19)
    var limits = ThumbnailLimits()
    limits.pixelsMax = 1_000_000  // a few bytes of a GIF may be many pixels, honestly
    var (made, refused) = (0, 0)
    for index in 0..<Self.count {
      let bytes = Self.damage(source, &random)
      do throws(PictureRejection) {
        let picture = try LibraryDecoder().make(
          ResponseBody(bytes), ThumbnailTransform(maxSide: 32, format: .jpeg), limits
        ) { false }
        made += 1
        #expect(picture.width <= 32 && picture.height <= 32, "\(index)")
      } catch {
        refused += 1
        #expect([.format, .pixels, .damaged].contains(error), "\(index): \(error)")
      }
    }
    #expect(made + refused == Self.count && refused > 0)
  }

  /// One to four times: bytes overwritten, left out, doubled, or set to the extremes of a number. A third of them in
  /// the first bytes, where the sizes are.
  private static func damage(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var bytes = bytes
    for _ in 0...random.below(4) where bytes.count > 8 {
      let start = random.chance(33) ? random.below(min(64, bytes.count)) : random.below(bytes.count)
      let range = start..<min(start + 1 + random.below(8), bytes.count)
      switch random.below(4) {
      case 0: for index in range { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
      case 1: bytes.removeSubrange(range)
      case 2: bytes.insert(contentsOf: bytes[range], at: start)
      default: for index in range { bytes[index] = random.chance(50) ? 0xFF : 0 }
      }
    }
    return bytes
  }
}
#endif
