import Testing

@testable import NetSpool
@testable import TestSupport

/// None of these may trap; what comes out has to be sane.
@Suite("Damaged images")
struct ImageDamageTests {
  private func check(_ bytes: [UInt8]) {
    guard let info = sniff(bytes) else { return }
    #expect((1...Int(Int32.max)).contains(info.pixelSize.width))
    #expect((1...Int(Int32.max)).contains(info.pixelSize.height))
  }

  @Test(arguments: ImageFixture.all) func `each byte changed`(_ fixture: ImageFixture) {
    var bytes = fixture.bytes
    for index in bytes.indices {
      let kept = bytes[index]
      for value in [0x00, 0x01, 0x7F, 0x80, 0xFF, kept ^ 0x01, kept ^ 0x80] {
        bytes[index] = value
        check(bytes)
      }
      bytes[index] = kept
    }
  }

  @Test(arguments: ImageFixture.all, [1, 2, 3] as [UInt64])
  func `damaged at random`(_ fixture: ImageFixture, _ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for _ in 0..<200 { check(random.damaged(fixture.bytes)) }
  }

  @Test(arguments: [11, 12, 13] as [UInt64]) func `signatures before noise`(_ seed: UInt64) {
    var random = SplitMix64(seed: seed)
    for fixture in ImageFixture.all {
      for kept in [3, 8, 12, 16, 20, 24, 32] {
        let noise = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
        check(fixture.bytes.prefix(kept) + noise)
      }
    }
  }
}
