/// What the answer to a HEAD means for the stored answer to GET (RFC 9111 section 4.3.5).
enum HeadUpdate: Sendable, Equatable {
  /// Store this in the old one's place; the body is the same.
  case updated(StoredResponse)
  /// The resource has changed: remove what is stored.
  case outdated
  /// It tells nothing about what is stored: it is no 200.
  case unrelated
}

extension StoredResponse {
  /// Takes the head of an answer to HEAD in.
  ///
  /// The update counts if every validator and the Content-Length it brings are those of the stored answer.
  func updated(
    byHead head: ResponseHead, requestedAt: Int64, receivedAt: Int64, rules: CacheRules
  ) -> HeadUpdate {
    guard head.status == 200, status == 200 else { return .unrelated }
    let new = head.headers
    guard agrees(new, "etag"), agrees(new, "last-modified"), agreesInLength(new) else { return .outdated }
    return renewed(by: new, requestedAt: requestedAt, receivedAt: receivedAt, rules: rules)
      .map(HeadUpdate.updated) ?? .outdated
  }

  private func agrees(_ new: Headers, _ name: String) -> Bool {
    guard let value = new.firstBytes(name) else { return true }
    return headers.firstBytes(name) == value
  }

  /// An answer that was stored without Content-Length came in chunks; then the validators alone count.
  private func agreesInLength(_ new: Headers) -> Bool {
    guard let length = new.firstBytes("content-length") else { return true }
    return headers.firstBytes("content-length").map { $0 == length } ?? (matches(new) == true)
  }
}
