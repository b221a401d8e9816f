/// Stands at a resource's primary key when its answers vary: which fields choose, and under which
/// generation the variants are found. Without it, or with another generation, none of them is reachable.
///
/// Bytes: 0x81, generation (8, little-endian), then the names, each ended by a NUL.
struct VariantIndex: Sendable, Hashable {
  let fields: VaryFields
  /// Random, so that a new index finds nothing of an old one.
  let generation: UInt64

  init(fields: VaryFields, generation: UInt64) {
    self.fields = fields
    self.generation = generation
  }

  /// For the first answer that varies so.
  init(fields: VaryFields) {
    self.init(fields: fields, generation: UInt64.random(in: 0...UInt64.max))
  }

  static let mark: UInt8 = 0x81

  func encode() -> [UInt8] {
    var bytes = [Self.mark]
    bytes.append(integer: generation)
    for name in fields.names {
      bytes += name.utf8
      bytes.append(0)
    }
    return bytes
  }

  /// Nil for bytes that `encode` did not write.
  init?(decoding bytes: RawSpan) {
    guard bytes.byteCount > 9, bytes.byteCount <= 65_536 else { return nil }
    let all = [UInt8](bytes)
    guard all[0] == Self.mark, all.last == 0 else { return nil }
    let names = all[9...].dropLast().split(separator: 0, omittingEmptySubsequences: false)
    guard names.allSatisfy({ !$0.isEmpty && $0.allSatisfy(\.isTokenByte) }) else { return nil }
    let texts = names.map { String(decoding: $0, as: UTF8.self) }
    let fields = VaryFields(names: texts)
    guard fields.names == texts else { return nil }
    self.init(fields: fields, generation: all.rawBytes.integer(at: 1))
  }
}
