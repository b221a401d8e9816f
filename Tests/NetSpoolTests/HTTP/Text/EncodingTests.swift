import Testing

@testable import NetSpool

@Suite("Encodings of parameters")
struct EncodingTests {
  private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  @Test(
    arguments: [
      ([], ""), ([Parameter("", "")], "="), ([Parameter("a", "b"), Parameter("a", "")], "a=b&a="),
      ([Parameter("text", "hello world+1")], "text=hello+world%2B1"),
      ([Parameter("k=&", "~*-._'")], "k%3D%26=%7E*-._%27"),
      ([Parameter("u", "é😀\r\n\0")], "u=%C3%A9%F0%9F%98%80%0D%0A%00"),
    ] as [([Parameter], String)])
  func `a form is written as browsers write it`(parameters: [Parameter], expected: String) {
    #expect(Self.text(FormBody.encode(parameters)) == expected)
  }

  @Test func `every byte of a form and of a query can be told back, and only safe bytes stand bare`() {
    for scalar in (0...0x17F).compactMap(Unicode.Scalar.init) {
      let text = String(scalar)
      var form: [UInt8] = []
      var query: [UInt8] = []
      PercentCoding.appendForm(text, to: &form)
      PercentCoding.appendQuery(text, to: &query)
      #expect(PercentCoding.decode(form, plusIsSpace: true) == Array(text.utf8))
      #expect(PercentCoding.decode(query, plusIsSpace: false) == Array(text.utf8))
      #expect(form.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "*-._+%".utf8.contains($0) })
      #expect(query.allSatisfy { $0.isUnreserved || $0 == UInt8(ascii: "%") })
    }
  }

  @Test(arguments: [
    ("a/b c", "a/b%20c"), ("a%20b%2Fc", "a%20b%2Fc"), ("100%", "100%25"), ("%zz%4", "%25zz%254"),
    ("x?y#z", "x%3Fy%23z"), (":@!$&'()*+,;=", ":@!$&'()*+,;="), ("é\\\"<>", "%C3%A9%5C%22%3C%3E"),
    ("/\u{301}", "/%CC%81"),
  ])
  func `a path keeps its escapes and its delimiters`(text: String, expected: String) {
    var output: [UInt8] = []
    PercentCoding.appendPath(text, to: &output)
    #expect(Self.text(output) == expected)
  }

  @Test(
    arguments: [
      ([], "{}"),
      ([Parameter("a", "b"), Parameter("c", "")], #"{"a":"b","c":""}"#),
      ([Parameter("\"\\/", "\u{8}\t\n\u{C}\r")], #"{"\"\\/":"\b\t\n\f\r"}"#),
      ([Parameter("n", "\0\u{1F}\u{7F}é\u{2028}")], "{\"n\":\"\\u0000\\u001f\u{7F}é\u{2028}\"}"),
      ([Parameter("a", "1"), Parameter("b", "2"), Parameter("a", "3")], #"{"a":"3","b":"2"}"#),
      ([Parameter("é", "1"), Parameter("e\u{301}", "2")], "{\"é\":\"1\",\"e\u{301}\":\"2\"}"),
    ] as [([Parameter], String)])
  func `a flat JSON object escapes what JSON must, keeps order and has each name once`(
    parameters: [Parameter], expected: String
  ) { #expect(FlatJSON.encode(parameters) == Array(expected.utf8)) }

  @Test(arguments: [
    ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ("foobar", "Zm9vYmFy"),
  ])
  func `base64 pads (the vectors of RFC 4648 section 10)`(text: String, expected: String) {
    #expect(Base64.encode(text.utf8) == expected)
  }

  @Test func `base64 knows all 64 digits`() {
    let bytes = (0..<48).map { index -> UInt8 in
      let digits = UInt32(index / 3 * 4)
      let group = digits << 18 | (digits + 1) << 12 | (digits + 2) << 6 | (digits + 3)
      return UInt8(truncatingIfNeeded: group >> UInt32(16 - index % 3 * 8))
    }
    #expect(Base64.encode(bytes) == "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
  }
}
