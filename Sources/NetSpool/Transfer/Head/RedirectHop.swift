/// The next request of a redirected operation.
struct RedirectHop: Sendable, Hashable {
  let method: Method
  let url: URLPieces
  /// The body is sent again.
  let keepsBody: Bool
  /// The target shares scheme, host and port with the request that was redirected.
  let isSameOrigin: Bool
  /// The method became GET, so nothing that described a body is left.
  let dropsContentFields: Bool

  /// Whether a request field goes along. Across origins only an allow-list does, because no list of
  /// secrets is ever complete: `X-Api-Key` is as secret as `Authorization`.
  func keeps(_ name: some Collection<UInt8>) -> Bool {
    let name = name.map(\.asciiLowercased)
    let isContent = name.starts(with: "content-".utf8)
    if isSameOrigin { return !(isContent && dropsContentFields) }
    if isContent { return keepsBody }
    return name.elementsEqual("accept".utf8) || name.starts(with: "accept-".utf8)
      || name.elementsEqual("user-agent".utf8)
  }

  /// The fields that go along, in their order.
  func keptFields(of fields: Headers) -> Headers {
    var kept = Headers()
    for field in fields where keeps(field.nameBytes) {
      kept.append(name: field.nameBytes, value: field.valueBytes)
    }
    return kept
  }
}
