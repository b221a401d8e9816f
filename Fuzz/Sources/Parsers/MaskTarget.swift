@testable import NetSpool

/// What a log may show. Input: a byte that chooses, and the text.
enum MaskTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let choice = input.number(below: 4)
    let text = String(decoding: input.rest, as: UTF8.self)
    let redaction = Redaction.standard
    switch choice {
    case 0: check(redaction.url(text), again: redaction.url)
    case 1: _ = redaction.form(text)
    case 2: _ = redaction.json(text)
    default:
      check(redaction.header(name: "Location", value: text)) {
        redaction.header(name: "Location", value: $0)
      }
    }
    // Whatever stands before it, a secret at the end is hidden.
    let query = redaction.url("http://host.test/?\(text)&token=s3cr3t")
    require(!query.holds("s3cr3t") || text.holds("s3cr3t"), "no secret is shown: \(query)")
    let user = redaction.url("http://me:s3cr3t@host.test/\(text)")
    require(!user.holds("s3cr3t") || text.holds("s3cr3t"), "no password is shown: \(user)")
  }

  private static func check(_ shown: String, again: (String) -> String) {
    // A control character that is told as a letter may make a word secret: the second look hides more, never less.
    if !shown.utf8.contains(UInt8(ascii: "\\")) {
      require(again(shown) == shown, "masking twice changes nothing: \(shown)")
    }
    require(!shown.utf8.contains(where: \.isControl), "a log line stays one")
  }
}
