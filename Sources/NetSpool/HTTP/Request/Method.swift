/// A request method: any token, its case kept (RFC 9110 section 9.1).
struct Method: Hashable, Sendable {
  let name: String

  init(_ name: String) { self.name = name }

  static let get = Method("GET")
  static let head = Method("HEAD")
  static let post = Method("POST")
  static let put = Method("PUT")
  static let patch = Method("PATCH")
  static let delete = Method("DELETE")
  static let options = Method("OPTIONS")
  static let trace = Method("TRACE")

  /// Sending it twice has the effect of sending it once (RFC 9110 section 9.2.2).
  var isIdempotent: Bool {
    switch name {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// It asks for nothing to be changed (RFC 9110 section 9.2.1).
  var isSafe: Bool {
    switch name {
    case "GET", "HEAD", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// An origin expects a body, so an empty one is announced with its length (RFC 9110 section 8.6).
  var expectsBody: Bool { name == "POST" || name == "PUT" || name == "PATCH" }

  /// Parameters travel in the query instead of the body.
  var putsParametersInQuery: Bool {
    switch name {
    case "GET", "HEAD", "DELETE", "OPTIONS": true
    default: false
    }
  }
}
