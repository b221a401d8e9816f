/// A request method: any token, its case kept (RFC 9110 section 9.1).
package struct Method: Hashable, Sendable {
  package let name: String

  package init(_ name: String) { self.name = name }

  package static let get = Method("GET")
  package static let head = Method("HEAD")
  package static let post = Method("POST")
  package static let put = Method("PUT")
  package static let patch = Method("PATCH")
  package static let delete = Method("DELETE")
  package static let options = Method("OPTIONS")
  package static let trace = Method("TRACE")

  /// Sending it twice has the effect of sending it once (RFC 9110 section 9.2.2).
  package var isIdempotent: Bool {
    switch name {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// It asks for nothing to be changed (RFC 9110 section 9.2.1).
  package var isSafe: Bool {
    switch name {
    case "GET", "HEAD", "OPTIONS", "TRACE": true
    default: false
    }
  }

  /// An origin expects a body, so an empty one is announced with its length (RFC 9110 section 8.6).
  package var expectsBody: Bool { name == "POST" || name == "PUT" || name == "PATCH" }

  /// Parameters travel in the query instead of the body.
  package var putsParametersInQuery: Bool {
    switch name {
    case "GET", "HEAD", "DELETE", "OPTIONS": true
    default: false
    }
  }
}
