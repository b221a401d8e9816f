/// A URL of a command line that stands for many, as curl has it: `[001-100]`, `[a-z:2]` and `{one,two}`; `\[` and `\{` are
/// themselves, and so is what is none of these, such as an IPv6 address. Pure, and never spelt out as a whole.
struct URLGlob: Equatable, Sendable {
  private enum Piece: Equatable {
    case fixed(String)
    case choices([String])
    /// Numbers with at least so many digits.
    case numbers(first: Int, step: Int, count: Int, width: Int)
    case letters(first: UInt8, step: Int, count: Int)

    var count: Int {
      switch self {
      case .fixed: 1
      case .choices(let texts): texts.count
      case .numbers(_, _, let count, _), .letters(_, _, let count): count
      }
    }

    func text(_ number: Int) -> String {
      switch self {
      case .fixed(let text): text
      case .choices(let texts): texts[number]
      case .numbers(let first, let step, _, let width):
        HumanText.padded(String(first + step * number), to: width, with: "0")
      case .letters(let first, let step, _): String(Unicode.Scalar(first + UInt8(step * number)))
      }
    }
  }

  private var pieces: [Piece] = []
  private(set) var count = 1

  /// - Parameter isOff: with `--globoff`.
  init(_ text: String, isOff: Bool = false) {
    var (rest, fixed) = (text[...], "")
    while let letter = rest.popFirst() {
      if !isOff, letter == "\\", let next = rest.first, "[]{}".contains(next) {
        fixed.append(rest.removeFirst())
      } else if !isOff, let (piece, end) = Self.piece(letter, rest) {
        pieces += [.fixed(fixed), piece]
        (fixed, rest) = ("", rest[end...])
      } else {
        fixed.append(letter)
      }
    }
    pieces.append(.fixed(fixed))
    for piece in pieces {
      let (product, isOver) = count.multipliedReportingOverflow(by: piece.count)
      count = isOver ? .max : product
    }
  }

  /// The n-th of them, the last piece changing first, and what stands for each of its pieces.
  func url(_ number: Int) -> (text: String, parts: [String]) {
    var (rest, texts, parts) = (number, [String](), [String]())
    for piece in pieces.reversed() {
      texts.append(piece.text(rest % piece.count))
      rest /= piece.count
      if case .fixed = piece { continue }
      parts.append(texts.last ?? "")
    }
    return (texts.reversed().joined(), parts.reversed())
  }

  /// A name in which `#1` is what stands for the first piece.
  static func filled(_ name: String, _ parts: [String]) -> String {
    guard !parts.isEmpty else { return name }
    var (rest, text) = (name[...], "")
    while let letter = rest.popFirst() {
      let digits = letter == "#" ? rest.prefix { $0.isASCIIDigit } : ""
      if let number = Int(digits), parts.indices.contains(number - 1) {
        text += parts[number - 1]
        rest = rest[digits.endIndex...]
      } else {
        text.append(letter)
      }
    }
    return text
  }

  private static func piece(_ letter: Character, _ rest: Substring) -> (Piece, end: Substring.Index)? {
    guard letter == "[" || letter == "{", let close = rest.firstIndex(of: letter == "[" ? "]" : "}") else {
      return nil
    }
    let inside = rest[..<close]
    let end = rest.index(after: close)
    if letter == "{" {
      let texts = inside.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
      return inside.isEmpty ? nil : (.choices(texts), end)
    }
    return range(inside).map { ($0, end) }
  }

  /// `1-100`, `001-100:2`, `a-z`.
  private static func range(_ text: Substring) -> Piece? {
    let halves = text.split(separator: ":", omittingEmptySubsequences: false)
    let ends = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard halves.count <= 2, ends.count == 2, let step = halves.count == 2 ? Int(halves[1]) : 1, step > 0
    else { return nil }
    if ends.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) }), let first = Int(ends[0]), let last = Int(ends[1]) {
      guard first <= last else { return nil }
      return .numbers(
        first: first, step: step, count: min((last - first) / step, .max - 1) + 1,
        width: ends[0].hasPrefix("0") ? ends[0].utf8.count : 1)
    }
    guard ends.allSatisfy({ $0.utf8.count == 1 }), let first = ends[0].utf8.first,
      let last = ends[1].utf8.first, first <= last, [first, last].allSatisfy({ ($0 | 0x20) &- 0x61 < 26 }),
      first & 0x20 == last & 0x20
    else { return nil }
    return .letters(first: first, step: step, count: Int(last - first) / step + 1)
  }
}
