extension HostileCatalogue {
  private static let text = Array(String(repeating: "the same words again and again. ", count: 320).utf8)
  private static let zipped = Gzip.stored(text)
  /// 200 MiB, from about 200 KB.
  private static let bomb = GzipBomb(unpacked: 200 << 20)
  /// 500 MiB, from about 600 bytes.
  private static let doubleBomb = GzipBomb.double(unpacked: 500 << 20)

  private static func coded(
    _ name: String, _ summary: String, as coding: String = "gzip", _ bytes: @escaping @Sendable () -> [UInt8]
  ) -> HostileBehaviour {
    HostileBehaviour(.coding, name, summary) { _ in
      Answer(headers: ["Content-Type": "text/plain", "Content-Encoding": coding], body: .bytes(bytes()))
    }
  }

  /// RFC 9110 section 8.4.
  static let coding: [HostileBehaviour] = [
    coded("gz_ok", "gzip as it should be") { zipped },
    coded("gz_bomb", "200 MiB of zeros in 200 KB of gzip") { bomb.bytes },
    coded("gz_bomb2", "500 MiB of zeros in gzip in gzip, under 1 KB", as: "gzip, gzip") { doubleBomb },
    HostileBehaviour(.coding, "gz_bomb_10g", "10 GiB of zeros in 10 MB of gzip", hugeBomb),
    coded("gz_truncated", "gzip without its last 100 bytes") { zipped.dropLast(100) },
    coded("gz_no_trailer", "gzip without checksum and length") { zipped.dropLast(8) },
    coded("gz_badcrc", "gzip with a wrong checksum") { flipped(zipped, fromEnd: 8) },
    coded("gz_badlen", "gzip with a wrong length") { flipped(zipped, fromEnd: 4) },
    coded("gz_baddata", "gzip with a wrong byte in the middle") {
      flipped(zipped, fromEnd: zipped.count / 2)
    },
    coded("gz_junk", "bytes behind the end of the gzip stream") { zipped + Array("trailing junk".utf8) },
    coded("gz_two_members", "two gzip members in a row: allowed by RFC 1952") { zipped + zipped },
    coded("gz_not", "says gzip, is plain text") { text },
    coded("gz_empty", "says gzip, has no byte") { [] },
    coded("gz_header_only", "a gzip header and nothing more") { Array(zipped.prefix(10)) },
    coded("enc_unknown", "a coding nobody knows", as: "rot13") { text },
    coded("enc_mixed", "a coding nobody knows around gzip", as: "gzip, rot13") { zipped },
    coded("enc_layers", "six layers of gzip", as: "gzip, gzip, gzip, gzip, gzip, gzip") {
      (0..<6).reduce(text) { bytes, _ in Gzip.stored(bytes) }
    },
  ]

  @Sendable
  private static func hugeBomb(_ request: RecordedRequest) -> Answer {
    let bomb = GzipBomb(unpacked: 10 << 30)
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(bomb.count)\r\n\r\n"
    return .raw([
      .text(head), .bytes(bomb.prefix), .repeating([0], times: bomb.zeroCount), .bytes(bomb.suffix),
    ])
  }

  private static func flipped(_ bytes: [UInt8], fromEnd distance: Int) -> [UInt8] {
    var bytes = bytes
    bytes[bytes.count - distance] ^= 0xff
    return bytes
  }
}
