import Testing

@testable import NetSpool
@testable import TestSupport

struct SHA256Tests {
  /// FIPS 180-4 and NIST's example files.
  static let vectors: [(message: [UInt8], digest: String)] = [
    ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    (Array("abc".utf8), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      Array("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".utf8),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      Array(
        ("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
          + "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu").utf8),
      "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
    (
      [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000),
      "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
    ),
  ]

  @Test(arguments: vectors.indices, [true, false])
  func `digests of the standard`(index: Int, accelerated: Bool) {
    var digest = SHA256(accelerated: accelerated)
    let message = Self.vectors[index].message
    unsafe digest.update(message.span.bytes)
    #expect(Hexadecimal.text(digest.finish()) == Self.vectors[index].digest)
  }

  @Test(arguments: [true, false])
  func `every split of every length gives the same`(accelerated: Bool) {
    // Two blocks and all ways to pad them.
    for length in 0...(LongRun.isOn ? 200 : 130) {
      let message = SinkFixture.pattern(length)
      var whole = SHA256(accelerated: false)
      unsafe whole.update(message.span.bytes)
      let expected = whole.finish()
      for split in 0...length {
        var digest = SHA256(accelerated: accelerated)
        unsafe digest.update(message.span.bytes.extracting(..<split))
        unsafe digest.update(message.span.bytes.extracting(split...))
        if digest.finish() != expected { Issue.record("length \(length), split at \(split)") }
      }
    }
  }

  @Test func `a finished digest may go on`() {
    let message = SinkFixture.pattern(300)
    var digest = SHA256()
    unsafe digest.update(message.span.bytes.extracting(..<150))
    let half = digest.finish()
    unsafe digest.update(message.span.bytes.extracting(150...))
    #expect(half == SinkFixture.sha256(Array(message.prefix(150))))
    #expect(digest.finish() == SinkFixture.sha256(message))
  }
}
