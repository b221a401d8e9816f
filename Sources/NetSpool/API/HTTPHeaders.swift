/// Header fields in order, repeated ones kept, names compared without case (RFC 9110 section 5).
public struct HTTPHeaders: Sendable, Hashable {
  var core: HeaderFields
  init(core: HeaderFields) { self.core = core }

  /// No fields.
  public init() { core = HeaderFields() }

  /// The first value of a name; setting replaces all of that name, nil removes them.
  public subscript(name: String) -> String? {
    get { core.first(name) }
    set {
      if let newValue { set(name, newValue) } else { core.remove(name: name) }
    }
  }

  /// Every value of a name, in order.
  public func values(for name: String) -> [String] { core.all(name) }

  /// Whether a field of that name is there.
  public func contains(_ name: String) -> Bool { core.contains(name) }

  /// Appends a field; a name that is no token or a value with CR, LF or NUL is refused with
  /// `.invalidRequest` when the operation is enqueued.
  public mutating func add(_ name: String, _ value: String) { core.append(name: name, value: value) }

  /// Replaces every field of a name by one.
  public mutating func set(_ name: String, _ value: String) {
    core.remove(name: name)
    add(name, value)
  }

  /// Removes every field of a name.
  public mutating func remove(_ name: String) { core.remove(name: name) }

  /// The number of fields.
  public var count: Int { core.count }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral {
  /// Fields in the order they are written.
  public init(dictionaryLiteral elements: (String, String)...) {
    self.init()
    for (name, value) in elements { add(name, value) }
  }
}

extension HTTPHeaders: Sequence {
  /// One name and its value at a time.
  public struct Iterator: IteratorProtocol {
    var base: HeaderFields.Iterator
    /// The next field.
    public mutating func next() -> (name: String, value: String)? { base.next().map { ($0.name, $0.value) } }
  }

  /// The fields in order.
  public func makeIterator() -> Iterator { Iterator(base: core.makeIterator()) }
}

extension HTTPHeaders: CustomStringConvertible, CustomReflectable {
  /// One line per field, secrets masked.
  public var description: String {
    map { "\($0.name): \(Redaction.standard.header(name: $0.name, value: $0.value))" }.joined(separator: "\n")
  }

  /// The description: `dump` goes by it.
  public var customMirror: Mirror { Mirror(self, children: ["fields": description]) }
}
