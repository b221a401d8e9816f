// The value of a record in the database `namespaces`; its key is the namespace's number, an integer.
// Integers little-endian:
//
//    0  8  checksum of everything behind it
//    8  8  bytes that its entries take (`EntryFacts.weight`)
//   16  8  entries
//   24     name, UTF-8

/// A part of the store with a name, a share of its own and a list of its own of what was used when.
struct NamespaceRecord: Sendable, Equatable {
  var number: UInt16
  var name: String
  var bytes = 0
  var entries = 0

  init(number: UInt16, name: String) {
    self.number = number
    self.name = name
  }

  /// Nil when a byte is not what was written.
  init?(number: UInt64, decoding value: RawSpan) {
    guard value.byteCount >= 24, let number = UInt16(exactly: number),
      value.integer(at: 0, as: UInt64.self)
        == Checksum.of(value.extracting(8..<value.byteCount), seed: UInt64(number))
    else { return nil }
    self.number = number
    bytes = Int(value.integer(at: 8, as: Int64.self))
    entries = Int(value.integer(at: 16, as: Int64.self))
    name = String(decoding: [UInt8](value.extracting(24..<value.byteCount)), as: UTF8.self)
  }

  func encode() -> [UInt8] {
    var body: [UInt8] = []
    body.append(integer: Int64(bytes))
    body.append(integer: Int64(entries))
    body.append(contentsOf: name.utf8)
    var out: [UInt8] = []
    out.append(integer: Checksum.of(body.rawBytes, seed: UInt64(number)))
    return out + body
  }
}
