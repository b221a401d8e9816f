/// What the library's own files call a request method.
typealias Method = NetworkRequest.Method

extension NetworkRequest {
  /// A request method: any token, its case kept (RFC 9110 section 9.1). `CONNECT` and anything that is no
  /// token is refused with `.invalidRequest` when the operation is enqueued.
  public struct Method: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    let name: String

    /// A method by its name.
    public init(_ name: String) { self.name = name }
    /// A method by its name.
    public init(stringLiteral name: String) { self.name = name }
    /// The name as it is sent.
    public var description: String { name }

    /// Asks for a representation; the default.
    public static let get = Self("GET")
    /// Asks for the head alone.
    public static let head = Self("HEAD")
    /// Hands something in.
    public static let post = Self("POST")
    /// Replaces.
    public static let put = Self("PUT")
    /// Changes a part.
    public static let patch = Self("PATCH")
    /// Removes.
    public static let delete = Self("DELETE")
    /// Asks what is possible.
    public static let options = Self("OPTIONS")
    /// Asks for what arrived to be sent back.
    public static let trace = Self("TRACE")
  }
}

extension NetworkRequest.Method {
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
