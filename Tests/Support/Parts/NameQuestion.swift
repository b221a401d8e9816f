/// A question to a name server, and the replies to it (RFC 1035 section 4).
struct NameQuestion {
  private static let address: UInt16 = 1
  private static let longAddress: UInt16 = 28

  let name: String
  private let type: UInt16
  /// The number of the message.
  private let id: [UInt8]
  /// The question as it came: it goes back with the reply.
  private let text: [UInt8]

  init?(_ bytes: ArraySlice<UInt8>) {
    var labels: [String] = []
    var place = bytes.startIndex + 12
    while place < bytes.endIndex, bytes[place] != 0 {
      let end = place + 1 + Int(bytes[place])
      guard end < bytes.endIndex else { return nil }
      labels.append(String(decoding: bytes[place + 1..<end], as: UTF8.self))
      place = end
    }
    guard place + 5 <= bytes.endIndex else { return nil }
    name = labels.joined(separator: ".").lowercased()
    type = UInt16(bytes[place + 1]) << 8 + UInt16(bytes[place + 2])
    id = Array(bytes.prefix(2))
    text = Array(bytes[bytes.startIndex + 12..<place + 5])
  }

  /// A reply without records, with a code of RFC 1035 section 4.1.1.
  func reply(code: UInt8) -> [UInt8] { header(code: code, count: 0) + text }

  /// The addresses of the kind that was asked for.
  func reply(addresses: [UInt32], longAddresses: [[UInt8]] = []) -> [UInt8] {
    let short = addresses.map { address in (0..<4).map { UInt8(truncatingIfNeeded: address >> (24 - 8 * $0)) }
    }
    let data = type == Self.address ? short : type == Self.longAddress ? longAddresses : []
    return data.reduce(header(code: 0, count: data.count) + text) { $0 + record($1) }
  }

  private func header(code: UInt8, count: Int) -> [UInt8] {
    // A reply to a recursive question, with authority.
    id + [0x85, 0x80 | code, 0, 1, UInt8(count >> 8), UInt8(count & 0xFF), 0, 0, 0, 0]
  }

  /// For the name of the question, which is at byte 12; not to be kept.
  private func record(_ data: [UInt8]) -> [UInt8] {
    [0xC0, 12, UInt8(type >> 8), UInt8(type & 0xFF), 0, 1, 0, 0, 0, 0, 0, UInt8(data.count)] + data
  }
}
