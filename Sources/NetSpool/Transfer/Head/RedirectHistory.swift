/// What one operation has asked for so far. Two equal questions in one chain are a cycle.
///
/// The method counts: a POST answered by 303 to its own URL is a common way to end a form, and asking
/// that URL once by GET is not a cycle.
struct RedirectHistory: Sendable {
  private var visits: [Visit]

  private struct Visit: Sendable, Equatable {
    let method: Method
    let url: URLPieces
  }

  /// Begins with the request as the user made it.
  init(method: Method, url: URLPieces) { visits = [Visit(method: method, url: url)] }

  /// Redirects followed so far.
  var hops: Int { visits.count - 1 }

  /// A list, not a set: it holds at most a dozen elements.
  func holds(method: Method, url: URLPieces) -> Bool {
    visits.contains(Visit(method: method, url: url))
  }

  mutating func append(method: Method, url: URLPieces) {
    visits.append(Visit(method: method, url: url))
  }
}
