/// Header fields in the order they were sent, repeated ones kept, names compared without case
/// (RFC 9110 section 5).
///
/// Stored as one block of `Name: value\r\n` lines: a response costs one allocation whatever its
/// number of fields, and a queued request carries no dictionary.
package struct HeaderFields: Sendable, Hashable {
  /// The lines, each ended by CR LF, without obsolete folding and without spaces around the value.
  package private(set) var block: [UInt8] = []
  package private(set) var count = 0

  package init() {}

  /// Appends a field that is known to be well formed; `HeaderRules` judges those that are not.
  package mutating func append(name: some StringProtocol, value: some StringProtocol) {
    block.append(contentsOf: name.utf8)
    block.append(0x3A)
    block.append(0x20)
    block.append(contentsOf: value.utf8)
    endLine()
  }

  /// Appends a field as it came off the wire.
  package mutating func append(name: some Collection<UInt8>, value: some Collection<UInt8>) {
    block.append(contentsOf: name)
    block.append(0x3A)
    block.append(0x20)
    block.append(contentsOf: value)
    endLine()
  }

  private mutating func endLine() {
    block.append(0x0D)
    block.append(0x0A)
    count += 1
  }

  package mutating func reserveCapacity(_ bytes: Int) { block.reserveCapacity(bytes) }

  /// Replaces every field of this name by one.
  package mutating func set(name: String, value: String) {
    remove(name: name)
    append(name: name, value: value)
  }

  package mutating func remove(name: String) {
    guard first(name) != nil else { return }
    var kept = HeaderFields()
    for field in self where !field.isNamed(name) {
      kept.append(name: field.nameBytes, value: field.valueBytes)
    }
    self = kept
  }

  /// The first value of this name.
  package func first(_ name: String) -> String? {
    for field in self where field.isNamed(name) { return field.value }
    return nil
  }

  /// Every value of this name, in order.
  package func all(_ name: String) -> [String] {
    var values: [String] = []
    for field in self where field.isNamed(name) { values.append(field.value) }
    return values
  }

  package func contains(_ name: String) -> Bool {
    for field in self where field.isNamed(name) { return true }
    return false
  }
}

extension HeaderFields: Sequence {
  /// One field: a view of its line in the block.
  package struct Field {
    package let nameBytes: ArraySlice<UInt8>
    package let valueBytes: ArraySlice<UInt8>
    package var name: String { String(decoding: nameBytes, as: UTF8.self) }
    package var value: String { String(decoding: valueBytes, as: UTF8.self) }

    package func isNamed(_ other: String) -> Bool {
      let utf8 = other.utf8
      guard utf8.count == nameBytes.count else { return false }
      return zip(nameBytes, utf8).allSatisfy { $0.asciiLowercased == $1.asciiLowercased }
    }
  }

  package struct Iterator: IteratorProtocol {
    let block: [UInt8]
    var position = 0

    package mutating func next() -> Field? {
      guard position < block.count else { return nil }
      var colon = position
      while block[colon] != 0x3A { colon += 1 }
      var end = colon + 2
      while block[end] != 0x0D { end += 1 }
      defer { position = end + 2 }
      return Field(nameBytes: block[position..<colon], valueBytes: block[(colon + 2)..<end])
    }
  }

  package func makeIterator() -> Iterator { Iterator(block: block) }
}
