/// Names and values in order, repeats allowed: a query or a form.
public struct Parameters: Sendable, Hashable, ExpressibleByDictionaryLiteral {
  var pairs: [Parameter]

  init(pairs: [Parameter]) { self.pairs = pairs }

  /// Pairs in the order they are written.
  public init(dictionaryLiteral pairs: (String, String)...) { self.init(pairs) }

  /// Pairs in the order they come.
  public init(_ pairs: some Sequence<(String, String)>) { self.pairs = pairs.map { Parameter($0.0, $0.1) } }

  /// Adds a pair at the end.
  public mutating func append(_ name: String, _ value: String) { pairs.append(Parameter(name, value)) }

  /// The first value of a name.
  public subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

  /// The number of pairs.
  public var count: Int { pairs.count }
  /// Whether there are none.
  public var isEmpty: Bool { pairs.isEmpty }
}

extension Parameters: Sequence {
  /// The pairs in order.
  public func makeIterator() -> IndexingIterator<[(name: String, value: String)]> {
    pairs.map { ($0.name, $0.value) }.makeIterator()
  }
}
