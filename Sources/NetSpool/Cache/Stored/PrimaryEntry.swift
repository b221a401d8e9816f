/// What stands at a resource's primary key: its only answer, or where its variants are.
enum PrimaryEntry: Sendable, Hashable {
  case response(StoredResponse)
  case variants(VariantIndex)

  /// Nil for anything else; the entry is then damaged or of another version.
  init?(decoding bytes: RawSpan, rules: CacheRules) {
    if bytes.byteCount > 0, bytes.byte(at: 0) == VariantIndex.mark {
      guard let index = VariantIndex(decoding: bytes) else { return nil }
      self = .variants(index)
    } else {
      guard let response = StoredResponse(decoding: bytes, rules: rules) else { return nil }
      self = .response(response)
    }
  }
}
