/// The URLs of one of many chains, each of which asks for its own: what two of them asked for at the same time would be asked
/// once.
package struct ChainURLs: Sendable {
  private let texts: [String]
  private var next = 0

  /// Of chain number `number` of `count` at an origin.
  package init(_ options: Options, prefix: String, number: Int, of count: Int) {
    var own = options
    (own.urlPrefix, own.hosts) = (prefix, 1)
    let each = max(1, min(options.distinct, options.files) / count)
    texts = (0..<each).map { own.url(number * each + $0) }
  }

  package mutating func take() -> String {
    defer { next += 1 }
    return texts[next % texts.count]
  }
}
