/// The header of a member of a tar file, by POSIX.1-2001: a block of 512 bytes with numbers as octal text.
///
///     name 100, mode 8, uid 8, gid 8, size 12, mtime 12, checksum 8, kind 1, linkname 100, "ustar" 6, "00" 2,
///     uname 32, gname 32, devmajor 8, devminor 8, prefix 155, nothing 12
///
/// A path that name and prefix do not hold and a size of 8 GiB or more stand in a pax header before it: a member of the
/// kind `x` whose body has lines `length key=value`.
struct TarHeader: Equatable {
  static let blockBytes = 512

  var name: String
  var size: Int64
  /// Seconds since 1970.
  var modified: Int64 = 0
  var kind = Kind.file

  struct Kind: RawRepresentable, Equatable {
    let rawValue: UInt8
    static let file = Kind(rawValue: UInt8(ascii: "0"))
    /// A pax header for the next member, and one for all that follow.
    static let extended = Kind(rawValue: UInt8(ascii: "x"))
    static let global = Kind(rawValue: UInt8(ascii: "g"))
    /// GNU tar's way to write a long name.
    static let longName = Kind(rawValue: UInt8(ascii: "L"))
  }

  /// What a body of this length takes: whole blocks.
  static func padded(_ bytes: Int64) -> Int64 { (bytes + 511) / 512 * 512 }

  static let end = [UInt8](repeating: 0, count: 2 * blockBytes)

  /// A single block, or three and more with a pax header.
  var bytes: [UInt8] {
    let place = Self.place(of: name)
    let isLong = place == nil
    let isLarge = size > Self.sizeMax
    guard isLong || isLarge else { return block(place!) }
    let records =
      (isLong ? Self.record("path", name) : []) + (isLarge ? Self.record("size", String(size)) : [])
    let extra = TarHeader(
      name: "././@PaxHeader", size: Int64(records.count), modified: modified, kind: .extended)
    let padding = [UInt8](repeating: 0, count: Int(Self.padded(extra.size)) - records.count)
    // A reader that knows no pax headers gets at least the end of the name, from a letter's beginning.
    let short = Array(name.utf8.suffix(Self.nameBytesMax).drop { $0 & 0xC0 == 0x80 })
    return extra.block(([], Array(extra.name.utf8))) + records + padding + block(place ?? ([], short))
  }

  private static let nameBytesMax = 100
  private static let prefixBytesMax = 155
  /// What eleven octal digits hold.
  private static let sizeMax: Int64 = 0o777_7777_7777

  /// The path in two, at a slash, where that is enough.
  private static func place(of path: String) -> (prefix: [UInt8], name: [UInt8])? {
    let bytes = Array(path.utf8)
    if bytes.count <= nameBytesMax { return ([], bytes) }
    for slash in bytes.indices.prefix(prefixBytesMax + 1) where bytes[slash] == UInt8(ascii: "/") {
      let name = bytes[(slash + 1)...]
      if slash > 0, !name.isEmpty, name.count <= nameBytesMax { return (Array(bytes[..<slash]), Array(name)) }
    }
    return nil
  }

  /// `length key=value`, where the length counts itself.
  private static func record(_ key: String, _ value: String) -> [UInt8] {
    let rest = " \(key)=\(value)\n"
    var length = rest.utf8.count
    while String(length).utf8.count + rest.utf8.count != length {
      length = String(length).utf8.count + rest.utf8.count
    }
    return Array("\(length)\(rest)".utf8)
  }

  private func block(_ place: (prefix: [UInt8], name: [UInt8])) -> [UInt8] {
    var block = [UInt8](repeating: 0, count: Self.blockBytes)
    func put(_ bytes: some Collection<UInt8>, at offset: Int) {
      block.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }
    func put(octal number: Int64, digits: Int, at offset: Int) {
      put(HumanText.padded(String(number, radix: 8), to: digits, with: "0").utf8, at: offset)
    }
    put(place.name, at: 0)
    put(octal: 0o644, digits: 7, at: 100)
    put(octal: 0, digits: 7, at: 108)
    put(octal: 0, digits: 7, at: 116)
    put(octal: size > Self.sizeMax ? 0 : size, digits: 11, at: 124)
    put(octal: min(max(0, modified), Self.sizeMax), digits: 11, at: 136)
    block[156] = kind.rawValue
    put("ustar\u{0}00".utf8, at: 257)
    put(place.prefix, at: 345)
    put(octal: Self.checksum(block[...]), digits: 6, at: 148)
    block[155] = UInt8(ascii: " ")
    return block
  }

  /// The sum of all bytes, with blanks where the sum itself stands.
  private static func checksum(_ block: ArraySlice<UInt8>) -> Int64 {
    let own = block.startIndex + 148..<block.startIndex + 156
    var sum: Int64 = 8 * 0x20
    for index in block.indices where !own.contains(index) { sum += Int64(block[index]) }
    return sum
  }

  enum Block: Equatable {
    case header(TarHeader)
    case end
    /// No header of a tar file.
    case unknown
  }

  /// - Parameter block: 512 bytes.
  static func parse(_ block: ArraySlice<UInt8>) -> Block {
    if block.allSatisfy({ $0 == 0 }) { return .end }
    func field(_ offset: Int, _ count: Int) -> ArraySlice<UInt8> {
      block[block.startIndex + offset..<block.startIndex + offset + count]
    }
    // Tars of earlier versions have names that begin inside a letter; foreign ones may have no UTF-8 at all.
    func text(_ offset: Int, _ count: Int) -> String {
      String(decoding: field(offset, count).prefix { $0 != 0 }, as: UTF8.self)
    }
    guard number(field(148, 8)) == checksum(block), let size = number(field(124, 12)), size >= 0 else {
      return .unknown
    }
    let (name, prefix) = (text(0, 100), text(345, 155))
    // GNU tar has other things where the prefix is.
    let hasPrefix = field(257, 6).elementsEqual("ustar\u{0}".utf8) && !prefix.isEmpty
    let kind = block[block.startIndex + 156]
    return .header(
      TarHeader(
        name: hasPrefix ? "\(prefix)/\(name)" : name, size: size, modified: number(field(136, 12)) ?? 0,
        kind: kind == 0 ? .file : Kind(rawValue: kind)))
  }

  /// Octal text, or with the highest bit set a binary number as GNU tar has it.
  private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
    if let first = field.first, first & 0x80 != 0 {
      guard first == 0x80, field.dropFirst().prefix(field.count - 8).allSatisfy({ $0 & 0x7F == 0 }) else {
        return nil
      }
      return Int64(exactly: field.suffix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
    let digits = field.drop { $0 == 0x20 }.prefix { $0 != 0 && $0 != 0x20 }
    return digits.isEmpty ? 0 : Int64(String(decoding: digits, as: UTF8.self), radix: 8)
  }

  /// Takes what a pax header says of the next member. False for one that cannot be read.
  mutating func take(pax records: ArraySlice<UInt8>) -> Bool {
    var rest = records
    while !rest.isEmpty {
      let digits = rest.prefix { $0 != 0x20 }
      guard let length = Int(String(decoding: digits, as: UTF8.self)), length > digits.count + 1,
        length <= rest.count
      else { return false }
      let record = rest.prefix(length).dropFirst(digits.count + 1).dropLast()
      rest = rest.dropFirst(length)
      guard let equals = record.firstIndex(of: UInt8(ascii: "=")) else { return false }
      let value = String(decoding: record[(equals + 1)...], as: UTF8.self)
      switch String(decoding: record[..<equals], as: UTF8.self) {
      case "path": name = value
      case "size":
        guard let bytes = Int64(value), bytes >= 0 else { return false }
        size = bytes
      default: break
      }
    }
    return true
  }
}
