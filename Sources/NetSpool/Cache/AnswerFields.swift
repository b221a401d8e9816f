/// The response fields that the cache reads, found in one pass over the block instead of one for each name:
/// an answer is looked at some twenty times before it is stored.
struct AnswerFields {
  /// Each by the number of its place.
  enum Name: Int, CaseIterable {
    case age, cacheControl, connection, contentType, date, etag, expires, lastModified, setCookie, setCookie2,
      vary

    var text: String {
      switch self {
      case .age: "age"
      case .cacheControl: "cache-control"
      case .connection: "connection"
      case .contentType: "content-type"
      case .date: "date"
      case .etag: "etag"
      case .expires: "expires"
      case .lastModified: "last-modified"
      case .setCookie: "set-cookie"
      case .setCookie2: "set-cookie2"
      case .vary: "vary"
      }
    }
  }

  let headers: Headers
  /// The range of the first value of each name; empty and at 0 if there is none.
  private var values = InlineArray<11, Range<Int>>(repeating: 0..<0)
  /// A bit for each name that has more than one line.
  private var repeated: UInt16 = 0

  init(_ headers: Headers) {
    self.headers = headers
    _ = headers.containsLine { bytes, line in
      if let (name, value) = Self.known(bytes, line) { note(name, value..<(line.upperBound - 1)) }
      return false
    }
  }

  private mutating func note(_ name: Name, _ value: Range<Int>) {
    if values[name.rawValue].lowerBound > 0 {
      repeated |= 1 << UInt16(name.rawValue)
    } else {
      values[name.rawValue] = value
    }
  }

  /// The first value of this name.
  subscript(name: Name) -> ArraySlice<UInt8>? {
    let value = values[name.rawValue]
    return value.lowerBound > 0 ? headers.block[value] : nil
  }

  /// Every value of this name, in order.
  func all(_ name: Name) -> [ArraySlice<UInt8>] {
    if repeated & (1 << UInt16(name.rawValue)) != 0 { return headers.allBytes(name.text) }
    return self[name].map { [$0] } ?? []
  }

  func contains(_ name: Name) -> Bool { values[name.rawValue].lowerBound > 0 }
}

extension AnswerFields {
  /// Finds which field the line is and where its value begins; nil for all others.
  private static func known(_ bytes: Span<UInt8>, _ line: Range<Int>) -> (Name, value: Int)? {
    guard let first = line.first else { return nil }
    return switch bytes[first] | 0x20 {
    case UInt8(ascii: "a"): match(bytes, line, "age:", .age)
    case UInt8(ascii: "c"):
      match(bytes, line, "cache-control:", .cacheControl) ?? match(bytes, line, "connection:", .connection)
        ?? match(bytes, line, "content-type:", .contentType)
    case UInt8(ascii: "d"): match(bytes, line, "date:", .date)
    case UInt8(ascii: "e"): match(bytes, line, "etag:", .etag) ?? match(bytes, line, "expires:", .expires)
    case UInt8(ascii: "l"): match(bytes, line, "last-modified:", .lastModified)
    case UInt8(ascii: "s"):
      match(bytes, line, "set-cookie:", .setCookie) ?? match(bytes, line, "set-cookie2:", .setCookie2)
    case UInt8(ascii: "v"): match(bytes, line, "vary:", .vary)
    default: nil
    }
  }

  private static func match(
    _ bytes: Span<UInt8>, _ line: Range<Int>, _ text: StaticString, _ name: Name
  ) -> (Name, value: Int)? {
    let value = line.lowerBound + text.utf8CodeUnitCount + 1
    // The colon tells nearly all apart by the length of their names.
    guard value < line.upperBound, bytes[value - 2] == UInt8(ascii: ":"),
      bytes.equals(text, in: line.lowerBound..<(value - 1))
    else { return nil }
    return (name, value)
  }
}
