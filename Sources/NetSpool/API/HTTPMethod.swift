/// A request method: any token, its case kept (RFC 9110 section 9.1). `CONNECT` and anything that is no
/// token is refused with `.invalidRequest` when the operation is enqueued.
public struct HTTPMethod: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  var core: Method
  init(core: Method) { self.core = core }

  /// A method by its name.
  public init(_ name: String) { core = Method(name) }
  /// A method by its name.
  public init(stringLiteral name: String) { core = Method(name) }
  /// The name as it is sent.
  public var description: String { core.name }

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
}
