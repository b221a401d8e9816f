import Testing

@testable import NetSpool

struct SipHashTests {
  /// Of the reference's test vectors (vectors.h, SipHash-2-4-128): the bytes 0, 1, 2 … of this length, under the key
  /// 0, 1, … 15.
  static let vectors: [(length: Int, hash: String)] = [
    (0, "a3817f04ba25a8e66df67214c7550293"), (1, "da87c1d86b99af44347659119b22fc45"),
    (7, "a1f1ebbed8dbc153c0b84aa61ff08239"), (8, "3b62a9ba6258f5610f83e264f31497b4"),
    (9, "264499060ad9baabc47f8b02bb6d71ed"), (15, "5493e99933b0a8117e08ec0f97cfc3d9"),
    (16, "6ee2a4ca67b054bbfd3315bf85230577"), (33, "77c6077146f01c32b6b69d5f4ea9ffcf"),
    (63, "5150d1772f50834a503e069a973fbd7c"),
  ]

  @Test(arguments: vectors)
  func `hashes of the reference`(length: Int, hash: String) {
    let message = (0..<length).map { UInt8($0) }
    let words = SipHash.hash(message.rawBytes, key: (0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908))
    var bytes: [UInt8] = []
    bytes.append(integer: words.0)
    bytes.append(integer: words.1)
    #expect(Hexadecimal.text(bytes) == hash)
  }
}
