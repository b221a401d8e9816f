/// The library's own name for the fields of a message.
typealias Headers = NetworkRequest.Headers

extension NetworkRequest {
  /// Header fields in the order they were sent, repeated ones kept, names compared without case
  /// (RFC 9110 section 5).
  ///
  /// Stored as one block of `Name: value\r\n` lines: a response costs one allocation whatever its
  /// number of fields, and a queued request carries no dictionary.
  public struct Headers: Sendable, Hashable {
    /// The lines, each ended by CR LF, without obsolete folding and without spaces around the value.
    private(set) var block: [UInt8] = []
    /// The number of fields.
    public private(set) var count = 0

    init() {}

    /// Takes over whole lines that have the block's form, with room for more behind them.
    init(block lines: Span<UInt8>, count: Int, spare: Int = 0) {
      block.reserveCapacity(lines.count + spare)
      block.append(lines)
      self.count = count
    }

    /// Appends a field that is known to be well formed; `HeaderRules` judges those that are not.
    mutating func append(name: some StringProtocol, value: some StringProtocol) {
      append(name: name.utf8, value: value.utf8)
    }

    /// Appends a field as it came off the wire.
    mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
      block.append(contentsOf: name)
      block.append(0x3A)
      block.append(0x20)
      block.append(contentsOf: value)
      endLine()
    }

    /// Appends a checked line as it came off the wire: name up to `colon`, then the trimmed value.
    ///
    /// One copy when the line already has the block's form, which nearly every line has.
    mutating func append(_ line: Span<UInt8>, colon: Int, value: Range<Int>) {
      let end = value.upperBound
      if value.lowerBound == colon + 2, end + 2 == line.count, line[colon + 1] == 0x20, line[end] == 0x0D {
        block.append(line)
        count += 1
        return
      }
      block.append(line.extracting(0..<(colon + 1)))
      block.append(0x20)
      block.append(line.extracting(value))
      endLine()
    }

    /// Appends whole lines that have the block's form.
    mutating func append(lines: Span<UInt8>, count: Int) {
      block.append(lines)
      self.count += count
    }

    /// Goes on with the last field's value after a fold, which becomes one space.
    mutating func extendLast(_ line: Span<UInt8>, _ range: Range<Int>) {
      guard count > 0, !range.isEmpty else { return }
      block.removeLast(2)
      // An empty value leaves `: ` behind, which already ends in a space.
      if block[block.count - 1] != 0x20 { block.append(0x20) }
      block.append(line.extracting(range))
      block.append(0x0D)
      block.append(0x0A)
    }

    private mutating func endLine() {
      block.append(0x0D)
      block.append(0x0A)
      count += 1
    }

    static func + (fields: Headers, more: Headers) -> Headers {
      guard more.count > 0 else { return fields }
      var all = fields
      all.append(lines: more.block.span, count: more.count)
      return all
    }

    mutating func reserveCapacity(_ bytes: Int) { block.reserveCapacity(bytes) }

    mutating func remove(name: String) {
      let wanted = name.utf8.span
      self = dropping { $1.count == wanted.count && $0.equals(wanted, at: $1.lowerBound) }
    }
  }
}

extension NetworkRequest.Headers: Sequence {
  /// A field: a view of its line in the block.
  public struct Field: Sendable {
    let nameBytes: ArraySlice<UInt8>
    let valueBytes: ArraySlice<UInt8>
    /// Its name, as received or given.
    public var name: String { String(decoding: nameBytes, as: UTF8.self) }
    /// Its value, without spaces around it; read as Latin-1 where it is no UTF-8.
    public var value: String { Headers.text(valueBytes) }
    /// Its value as received or given, without spaces around it.
    public var bytes: [UInt8] { Array(valueBytes) }

    func isNamed(_ other: String) -> Bool {
      let utf8 = other.utf8
      guard utf8.count == nameBytes.count else { return false }
      return zip(nameBytes, utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
  }

  /// Gives the fields one at a time.
  public struct Iterator: IteratorProtocol {
    let block: [UInt8]
    var position = 0

    /// A line without colon is stepped over: only a field that was never checked can leave one.
    public mutating func next() -> Field? {
      let block = self.block
      let bytes = block.span
      while let end = bytes.firstIndex(of: 0x0A, from: position) {
        let start = position
        position = end + 1
        guard let colon = bytes.firstIndex(of: 0x3A, from: start), colon + 2 < end else { continue }
        return Field(nameBytes: block[start..<colon], valueBytes: block[(colon + 2)..<(end - 1)])
      }
      return nil
    }
  }

  /// The fields in order.
  public func makeIterator() -> Iterator { Iterator(block: block) }
}

extension NetworkRequest.Headers {
  /// The first value of a name, read as Latin-1 where it is no UTF-8; setting replaces all of that name, nil removes them.
  public subscript(name: String) -> String? {
    get { first(name) }
    set { if let newValue { set(name, newValue) } else { remove(name: name) } }
  }

  /// True when a field of that name is there.
  public func contains(_ name: String) -> Bool {
    var position = 0
    return nextValue(name, from: &position) != nil
  }

  /// Every value of a name, in order.
  public func values(for name: String) -> [String] { all(name) }
  /// The first value of a name, as received or given: what is no UTF-8 can be sent back with ``add(_:bytes:)``.
  public func bytes(of name: String) -> [UInt8]? { firstBytes(name).map { Array($0) } }

  /// Appends a field whose value need not be UTF-8; refused as with ``add(_:_:)``.
  public mutating func add(_ name: String, bytes value: some Collection<UInt8>) {
    append(name: name.utf8, value: value)
  }

  /// Appends a field; a name that is no token or a value with CR, LF or NUL is refused with
  /// `.invalidRequest` when the operation is enqueued.
  public mutating func add(_ name: String, _ value: String) { append(name: name, value: value) }

  /// Replaces every field of a name by one.
  public mutating func set(_ name: String, _ value: String) {
    remove(name: name)
    append(name: name, value: value)
  }

  /// Removes every field of a name.
  public mutating func remove(_ name: String) { remove(name: name) }
}

extension NetworkRequest.Headers: ExpressibleByDictionaryLiteral {
  /// The fields of a dictionary, by name.
  public init(_ dictionary: [String: String]) {
    self.init()
    for (name, value) in dictionary.sorted(by: { $0.key < $1.key }) { add(name, value) }
  }

  /// Fields in the order they are written.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (name, value) in elements { add(name, value) }
  }
}

extension NetworkRequest.Headers: CustomStringConvertible, CustomReflectable {
  /// A line for each field, secrets masked.
  public var description: String { map(\.description).joined(separator: "\n") }
  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["fields": description]) }
}

extension NetworkRequest.Headers.Field: CustomStringConvertible, CustomReflectable {
  /// Its line, a secret masked.
  public var description: String { "\(name): \(valueMasked)" }
  /// Its value as it may be shown, also what is secret in URLs.
  package var valueMasked: String { Redaction.standard.header(name: name, value: value) }
  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["field": description]) }
}
