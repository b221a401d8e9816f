import Testing

@testable import NetSpool

/// Vary (RFC 9111 section 4.1, RFC 9110 section 12.5.5).
struct CacheVaryTests {
  @Test func `secrets are not written down`() throws {
    let secrets = [
      "Authorization: Bearer hunter2", "Cookie: hunter2", "X-Api-Key: hunter2", "X-Auth-Me: hunter2",
    ]
    let vary = "Vary: Authorization, Cookie, X-Api-Key, X-Auth-Me, Accept"
    let held = try #require(stored([vary], request: secrets + ["Accept: a"]))
    let names = try #require(VaryFields(fields(vary)))
    let key = CacheKey.variant(VariantIndex(fields: names), of: [], headers: fields(secrets))
    let own = CacheKey.variant(
      VariantIndex(fields: VaryFields(names: ["x-sigil"])), of: [], headers: fields(["X-Sigil: hunter2"]),
      FieldMeaning(secret: ["X-Sigil"]))
    for bytes in [held.encode(), key, own] {
      #expect(!String(decoding: bytes, as: UTF8.self).contains("hunter2"))
    }
  }

  @Test func `an index reads back`() throws {
    let first = VariantIndex(fields: VaryFields(names: ["b", "a", "b"]), generation: .max - 3)
    let index = first.adding(VaryFields(names: ["c"]))
    #expect(index.lists.count == 2 && index.adding(VaryFields(names: ["a", "b"])) == index)
    #expect(VariantIndex(decoding: first.encode().rawBytes) == first)
    #expect(VariantIndex(decoding: index.encode().rawBytes) == index)
    #expect(PrimaryEntry(decoding: index.encode().rawBytes, rules: .standard) == .variants(index))
    let withDefault = index.adding(VaryFields(names: []))
    #expect(VariantIndex(decoding: withDefault.encode().rawBytes) == withDefault)
    let bytes = index.encode()
    for end in 0..<bytes.count { #expect(VariantIndex(decoding: Array(bytes[..<end]).rawBytes) != index) }
    for bad in [
      [], [0x82], Array(bytes.dropLast()), bytes + [0, 0], bytes + [0x20, 0], [0x81] + bytes.dropFirst(),
    ] as [[UInt8]] { #expect(VariantIndex(decoding: bad.rawBytes) == nil) }
    #expect(VariantIndex(fields: VaryFields(names: ["a"])) != VariantIndex(fields: VaryFields(names: ["a"])))
  }

  @Test func `an index remembers so many lists of names, and the oldest goes`() {
    let lists = (0...VariantIndex.listsMax).map { VaryFields(names: ["\($0)"]) }
    let index = lists.dropFirst().reduce(VariantIndex(fields: lists[0])) { $0.adding($1) }
    #expect(index.lists == lists.dropFirst().reversed())
    #expect(index.adding(lists[3]) == index)
  }

  /// Generations, names, absence and emptiness, and where one value ends and the next begins.
  @Test func `variant keys differ`() {
    func key(_ names: [String], _ generation: UInt64, _ lines: [String]) -> [UInt8] {
      CacheKey.variant(
        VariantIndex(fields: VaryFields(names: names), generation: generation), of: [49],
        headers: fields(lines))
    }
    let keys = [
      key(["a"], 1, []), key(["a"], 2, []), key(["a"], 1, ["a:"]), key(["a"], 1, ["a: b"]), key(["b"], 1, []),
      key(["a", "b"], 1, ["a: x", "b: y"]), key(["a", "b"], 1, ["a: xy", "b:"]),
      key(["a", "b"], 1, ["a: xy"]), key(["ab"], 1, ["ab: x"]),
    ]
    #expect(Set(keys).count == keys.count)
  }
}
