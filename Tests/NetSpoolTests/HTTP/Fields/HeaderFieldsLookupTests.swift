import Testing

@testable import NetSpool

/// Lookups in the block (RFC 9110 section 5.1: names have no case).
struct HeaderFieldsLookupTests {
  private let fields: Headers = [
    "Set-Cookie": "a=1", "X-Empty": "", "set-cookie": "b: 2", "X": "Set-Cookie: inside",
  ]

  @Test func `names are found without case`() {
    #expect(fields.first("SET-COOKIE") == "a=1")
    #expect(fields.all("set-Cookie") == ["a=1", "b: 2"])
    #expect(fields.first("x-empty") == "" && fields.contains("X-EMPTY"))
    #expect(fields.first("x") == "Set-Cookie: inside")
  }

  @Test(arguments: ["", "Set", "Set-Cookies", "et-Cookie", "X-Empty:", "Set-Cookie: a", "inside", "a=1"])
  func `parts of lines are not names`(_ name: String) {
    #expect(fields.first(name) == nil && !fields.contains(name) && fields.allBytes(name).isEmpty)
  }

  @Test func `an empty block has nothing`() {
    #expect(Headers().first("a") == nil && Array(Headers()).isEmpty)
  }

  @Test func `setting replaces all`() {
    var changed = fields
    changed.set("SET-COOKIE", "c")
    #expect(changed.all("set-cookie") == ["c"] && changed.count == 3)
    changed.remove(name: "nothing")
    #expect(changed.count == 3)
  }

  /// The eight-byte search finds what a plain loop finds, at every length and place.
  @Test func `long lines are walked right`() {
    for length in 0...40 {
      var fields = Headers()
      fields.append(name: "A", value: String(repeating: "\u{B}", count: length))
      fields.append(name: "B", value: "found")
      #expect(fields.first("b") == "found" && fields.first("a")?.count == length)
      #expect(fields.map(\.name) == ["A", "B"])
    }
  }
}
