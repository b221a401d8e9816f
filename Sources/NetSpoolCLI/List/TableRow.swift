/// Rows of CSV (RFC 4180), and of the same with tabs or semicolons. Quotes at a field's beginning enclose it: separators, line
/// ends and, doubled, quotes in it are its own. Pure.
struct TableRow {
  /// The names in a table's first line.
  struct Head: Equatable {
    let names: [String]
    let separator: UInt8

    /// Nil unless one of the names is `url`.
    init?(_ line: ArraySlice<UInt8>) {
      for separator in "\t,;".utf8 {
        let fields = TableRow.fields(line, separator).map { $0.trimmingPrefix { $0 == " " } }
        guard fields.contains(where: { $0.lowercased() == "url" }) else { continue }
        (names, self.separator) = (fields.map(String.init), separator)
        return
      }
      return nil
    }
  }

  private enum State { case start, plain, quoted, closing }

  private let separator: UInt8
  private var state = State.start

  init(_ separator: UInt8) { self.separator = separator }

  /// Inside quotes: what follows belongs to the row, line ends as well.
  var isOpen: Bool { state == .quoted }

  /// Takes the row's next line, or a piece of it.
  mutating func take(_ line: ArraySlice<UInt8>) { for byte in line { step(byte) } }

  /// What a byte is: nil for a mark, else a byte of the field.
  @discardableResult private mutating func step(_ byte: UInt8) -> UInt8? {
    switch (state, byte) {
    case (.start, UInt8(ascii: "\"")): state = .quoted
    case (.quoted, UInt8(ascii: "\"")): state = .closing
    case (.closing, UInt8(ascii: "\"")):
      state = .quoted
      return byte
    case (.quoted, _): return byte
    case (_, separator): state = .start
    default:
      state = .plain
      return byte
    }
    return nil
  }

  /// The fields of a whole row. What is not UTF-8 is replaced: who reads a list has looked at that before.
  static func fields(_ row: ArraySlice<UInt8>, _ separator: UInt8) -> [String] {
    var (scan, fields, field) = (TableRow(separator), [String](), [UInt8]())
    for byte in row {
      if let own = scan.step(byte) {
        field.append(own)
      } else if scan.state == .start {
        fields.append(String(decoding: field, as: UTF8.self))
        field.removeAll(keepingCapacity: true)
      }
    }
    return fields + [String(decoding: field, as: UTF8.self)]
  }
}
