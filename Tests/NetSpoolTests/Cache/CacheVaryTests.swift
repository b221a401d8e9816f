import Testing

@testable import NetSpool

/// Vary (RFC 9111 section 4.1, RFC 9110 section 12.5.5).
struct CacheVaryTests {
  static let values: [([String], [String]?)] = [
    ([], []), (["Foo"], ["foo"]), (["foo, BAR", "Baz,foo"], ["bar", "baz", "foo"]), ([""], []), ([",,"], []),
    ([" Foo\t,"], ["foo"]), (["*"], nil), (["*, *"], nil), (["*", "*"], nil), ([", *"], nil),
    (["", "*"], nil),
    (["*, Foo"], nil), (["Foo, *"], nil), (["Foo", "*"], nil), (["a b"], nil), (["\"foo\""], nil),
  ]

  @Test(arguments: values)
  func `names are read`(_ lines: [String], names: [String]?) {
    #expect(VaryFields(fields(lines.map { "Vary: \($0)" }))?.names == names)
  }

  /// Vary, the request that was answered, a later request, and whether the answer serves it.
  static let pairs: [(String, [String], [String], Bool)] = [
    ("Foo", ["Foo: 1"], ["foo: 1"], true), ("Foo", ["Foo: 1"], ["Foo: 2"], false),
    ("Foo", ["Foo: 1"], [], false), ("Foo", [], ["Foo: 1"], false), ("Foo", [], [], true),
    ("Foo", ["Foo:"], [], false), ("Foo", [], ["Foo:"], false), ("Foo", ["Foo:"], ["Foo: "], true),
    ("Foo", ["Foo: 1", "Other: 2"], ["Other: 3", "Foo: 1"], true),
    ("Foo, Bar", ["Foo: 1", "Bar: a"], ["Bar: a", "Foo: 1"], true),
    ("Foo, Bar", ["Foo: 1", "Bar: a"], ["Foo: 2", "Bar: a"], false),
    ("Foo, Bar", ["Foo: 1", "Bar: a"], ["Foo: a", "Bar: 1"], false),
    ("Foo, Bar, Baz", ["Foo: 1", "Baz: 9"], ["Foo: 1", "Baz: 9"], true),
    ("Foo, Bar, Baz", ["Foo: 1", "Baz: 9"], ["Foo: 1", "Bar: 9"], false),
    // Lines combined, blanks around commas dropped.
    ("Foo", ["Foo: 1, 2"], ["Foo: 1", "Foo: 2"], true), ("Foo", ["Foo: 1,2"], ["Foo:  1 ,\t2 "], true),
    ("Foo", ["Foo: 1, 2"], ["Foo: 2, 1"], false), ("Foo", ["Foo: a b"], ["Foo: ab"], false),
    ("Foo", ["Foo: \"a, b\""], ["Foo: \"a,b\""], false),
    ("Foo", ["Foo: \"\\\", x\""], ["Foo: \"\\\",x\""], false),
    ("Foo", ["Foo: a"], ["Foo: A"], false), ("Foo", ["Foo: 1,"], ["Foo: 1"], false),
    ("Accept-Language", ["Accept-Language: en, de"], ["Accept-Language: eN ,De"], true),
    ("Accept-Language", ["Accept-Language: en, de"], ["Accept-Language: de, en"], false),
    ("Accept-Encoding", ["Accept-Encoding: gzip"], ["Accept-Encoding: GZIP"], true),
    ("Accept-Encoding", ["Accept-Encoding: gzip"], ["Accept-Encoding: gzip, br"], false),
    ("User-Agent", ["User-Agent: a, b"], ["User-Agent: a,b"], false),
    ("Authorization", ["Authorization: x"], ["Authorization: x"], true),
    ("Authorization", ["Authorization: x"], ["Authorization: y"], false),
    ("Cookie", ["Cookie: a=1"], ["Cookie: a=2"], false), ("Cookie", ["Cookie: a=1"], [], false),
    ("X-Api-Key", ["X-Api-Key: k"], ["X-Api-Key: k"], true),
  ]

  @Test(arguments: pairs)
  func `selects`(_ vary: String, _ first: [String], _ second: [String], expected: Bool) throws {
    let held = try #require(stored(["Vary: \(vary)", "Cache-Control: max-age=9"], request: first))
    let names = try #require(VaryFields(held.headers))
    #expect(names.matches(fields(second), variant: held.variant) == expected)
    // The variant's key says the same.
    let index = VariantIndex(fields: names, generation: 7)
    let keys = [first, second].map { CacheKey.variant(index, of: [1], headers: fields($0)) }
    #expect((keys[0] == keys[1]) == expected)
    #expect(held.facts.flags.contains(.varies))
  }

  @Test func `secrets are not written down`() throws {
    let secrets = [
      "Authorization: Bearer hunter2", "Cookie: hunter2", "X-Api-Key: hunter2", "X-Auth-Me: hunter2",
    ]
    let vary = "Vary: Authorization, Cookie, X-Api-Key, X-Auth-Me, Accept"
    let held = try #require(stored([vary], request: secrets + ["Accept: a"]))
    let names = try #require(VaryFields(fields(vary)))
    let key = CacheKey.variant(VariantIndex(fields: names), of: [], headers: fields(secrets))
    for bytes in [held.encode(), key] {
      #expect(!String(decoding: bytes, as: UTF8.self).contains("hunter2"))
    }
    #expect(held.variant.count == 5 && held.variant.all("accept") == ["a"])
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
    ] as [[UInt8]] {
      #expect(VariantIndex(decoding: bad.rawBytes) == nil)
    }
    #expect(VariantIndex(fields: VaryFields(names: ["a"])) != VariantIndex(fields: VaryFields(names: ["a"])))
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
      key(["a", "b"], 1, ["a: xy"]),
      key(["ab"], 1, ["ab: x"]),
    ]
    #expect(Set(keys).count == keys.count)
  }
}
