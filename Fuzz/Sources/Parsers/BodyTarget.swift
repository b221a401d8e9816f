@testable import NetSpool

/// Bodies that are sent: forms and multipart, taken apart again as a server would.
///
/// Input: a byte of choices, then names and values, a line each.
enum BodyTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let choices = input.byte()
    var pairs: [Parameter] = []
    while !input.isAtEnd, pairs.count < 16 {
      let name = unescaped(input.text())
      pairs.append(Parameter(name, unescaped(input.text())))
    }
    if choices & 1 == 0 { checkForm(pairs) } else { checkMultipart(pairs, choices) }
  }

  /// A line of input holds no line end; these two stand for them.
  private static func unescaped(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      scalars.append(scalar == "\u{1}" ? "\r" : scalar == "\u{2}" ? "\n" : scalar)
    }
    return String(scalars)
  }

  // MARK: Forms

  private static func checkForm(_ pairs: [Parameter]) {
    let form = FormBody.encode(pairs)
    require(form.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a form is plain text")
    require(parsed(form[...], plusIsSpace: true) == pairs, "a form is read as it was written")
    guard let url = try? URLText.appending(pairs, to: "http://host.test/?") else { return }
    let query = Array(url.utf8).split(separator: UInt8(ascii: "?"), maxSplits: 1).dropFirst().first ?? []
    require(parsed(query, plusIsSpace: true) == pairs, "so is a query")
    require(parsed(query, plusIsSpace: false) == pairs, "whatever a plus means")
    let json = FlatJSON.encode(pairs)
    require(String(validating: json, as: UTF8.self) != nil, "JSON is text")
    require(!json.contains { $0 < 0x20 }, "without control bytes")
  }

  private static func parsed(_ text: ArraySlice<UInt8>, plusIsSpace: Bool) -> [Parameter] {
    text.split(separator: UInt8(ascii: "&")).map { pair in
      let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let texts = halves.map {
        String(decoding: PercentCoding.decode($0, plusIsSpace: plusIsSpace), as: UTF8.self)
      }
      return Parameter(texts[0], texts.count > 1 ? texts[1] : "")
    }
  }

  // MARK: Multipart

  private static func checkMultipart(_ pairs: [Parameter], _ choices: UInt8) {
    var generator = Counting()
    var multipart = Multipart(using: &generator)
    for (index, pair) in pairs.enumerated() {
      let isFile = choices & (2 << (index % 6)) != 0
      multipart.addData(
        Array(pair.value.utf8), forKey: pair.name, mimeType: isFile ? pair.value : nil,
        fileName: isFile ? pair.name : nil)
    }
    guard let layout = try? multipart.layout() else { return }
    var body: [UInt8] = []
    for case .bytes(let bytes) in layout.segments { body += bytes }
    require(Int64(body.count) == layout.length, "its length is known before")
    guard let parts = MultipartReader.parts(of: body, boundary: multipart.boundary) else {
      broken("a server can take it apart")
    }
    require(parts.count == pairs.count, "no part makes or hides another")
    for (part, pair) in zip(parts, pairs) {
      require(part.content == Array(pair.value.utf8), "a part is read as it was written")
      require(part.name == escaped(normalised(pair.name)), "so is its name")
      if let name = part.fileName { require(name == escaped(Array(pair.name.utf8)), "and its file's") }
    }
  }

  private static func normalised(_ name: String) -> [UInt8] {
    var output: [UInt8] = []
    for byte in name.utf8 {
      if byte == 0x0A, output.last == 0x0D { output.removeLast() }
      output.append(byte)
    }
    return output.flatMap { $0 == 0x0D || $0 == 0x0A ? [0x0D, 0x0A] : [$0] }
  }

  private static func escaped(_ name: [UInt8]) -> [UInt8] {
    name.flatMap { byte -> [UInt8] in
      switch byte {
      case 0x22: Array("%22".utf8)
      case 0x0D: Array("%0D".utf8)
      case 0x0A: Array("%0A".utf8)
      default: [byte]
      }
    }
  }
}

/// The same boundary for every run, since a crash must be repeatable; it is not in an input by chance.
struct Counting: RandomNumberGenerator {
  private var number: UInt64 = 0x5EED_0123_4567_89AB

  mutating func next() -> UInt64 {
    number = number &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return number
  }
}
