/// What an origin does with `Expect: 100-continue` (RFC 9110 section 10.1.1).
public enum ExpectPolicy: Sendable, Equatable {
  /// Sends `100 Continue` as soon as it has read the head, unless the body has begun already.
  case answer
  /// Says nothing and waits for the body, as an origin that does not know the field.
  case ignore
  /// Answers `417 Expectation Failed` without the body, and closes the connection.
  case refuse
}
