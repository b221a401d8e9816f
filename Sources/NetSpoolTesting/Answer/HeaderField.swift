/// A header field as it was written: name with its case, value without the space around it.
public struct HeaderField: Sendable, Hashable, CustomStringConvertible {
  /// The name, in the case that was used.
  public var name: String
  /// The value.
  public var value: String

  /// A field of this name and value. Nothing is checked: an answer may be wrong on purpose.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }

  /// The field as a header line without its end.
  public var description: String { "\(name): \(value)" }
}

extension Sequence where Element == HeaderField {
  /// The first value of this name, compared without case.
  public func first(_ name: String) -> String? {
    first { equalsWithoutCase($0.name.utf8, name.utf8) }?.value
  }

  /// Every value of this name, in order.
  public func all(_ name: String) -> [String] {
    filter { equalsWithoutCase($0.name.utf8, name.utf8) }.map(\.value)
  }
}

/// ASCII comparison as RFC 9110 section 5.1 wants it for field names.
func equalsWithoutCase(_ first: some Collection<UInt8>, _ second: some Collection<UInt8>) -> Bool {
  first.count == second.count && zip(first, second).allSatisfy { lowercased($0) == lowercased($1) }
}

@inline(__always)
func lowercased(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }
