#if Images
import NetSpool
import Testing

@testable import NetSpoolImages
@testable import TestSupport

/// Damaged pictures come out as a picture or as an error: no crash, no hang, and no memory that stays.
/// `NETSPOOL_LONG=1` tries 1,000 of each format.
@Suite(.threadForEach)
struct HostilePictureTests {
  private static let count = LongRun.isOn ? 1_000 : 200

  enum Source: String, CaseIterable, Codable {
    case webP, jpeg, avif, png, gif, heic

    var bytes: [UInt8] {
      get throws {
        let noise = TestPicture.noise(64, 48)
        return switch self {
        case .webP: try TestPicture.made(.webP, of: noise)
        case .jpeg: try TestPicture.made(.jpeg, of: noise)
        case .avif: try TestPicture.made(.avif, of: noise)
        case .png: noise
        case .gif: TestPicture.gif
        case .heic: TestPicture.heic
        }
      }
    }
  }

  @Test(arguments: Source.allCases)
  func `mutated pictures are made or refused, and keep no memory`(_ source: Source) async {
    // In a process of its own: a crash is one failure, and what other tests do meanwhile takes none of the memory.
    await #expect(processExitsWith: .success) { [source = source as Source] in
      let whole = try source.bytes
      var random = SplitMix64(seed: 19)
      try HostilePictureTests.decode(whole, 50, &random)
      MemoryUse.forgetPeak()
      let before = MemoryUse.resident
      try HostilePictureTests.decode(whole, HostilePictureTests.count, &random)
      if isSanitized { return }
      let (stays, most) = (MemoryUse.resident - before, MemoryUse.peak - before)
      // A million pixels are 4 MiB, a few times over: frames before and after they are turned and shrunk. What stays is
      // the heap's, in pieces, and is no more after 4,000 pictures than after 2,000.
      #expect(stays < 24 << 20 && most < 64 << 20, "\(stays >> 10) KiB stay, of \(most >> 10) KiB at most")
    }
  }

  private static func decode(_ whole: [UInt8], _ count: Int, _ random: inout SplitMix64) throws {
    var limits = ThumbnailLimits()
    limits.pixelsMax = 1_000_000  // a few bytes of a GIF may be many pixels, honestly
    var (made, refused) = (0, 0)
    for index in 0..<count {
      let bytes = random.damaged(whole)
      do throws(PictureRejection) {
        let picture = try LibraryDecoder().make(
          ResponseBytes(bytes), ThumbnailTransform(maxSide: 32, format: .jpeg), limits
        ) { false }
        made += 1
        #expect(picture.width <= 32 && picture.height <= 32, "\(index)")
      } catch {
        refused += 1
        #expect([.format, .pixels, .damaged].contains(error), "\(index): \(error)")
      }
    }
    #expect(made + refused == count && refused > 0)
  }
}
#endif
