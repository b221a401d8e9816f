extension StoredFields {
  /// The stored fields with those of a newer head put in their place (RFC 9111 section 3.2).
  ///
  /// Every name that `new` has replaces all stored lines of that name, except what describes the stored
  /// bytes as they lie there: Content-Length, Content-Encoding, Content-Range. A weak ETag is not made
  /// strong: the bytes were not compared. `new` has been through `make`.
  static func updated(_ stored: HeaderFields, with new: HeaderFields) -> HeaderFields {
    var result = HeaderFields()
    result.reserveCapacity(stored.block.count + new.block.count)
    for field in stored where keeps(field, stored, new) {
      result.append(name: field.nameBytes, value: field.valueBytes)
    }
    for field in new where !keeps(field, stored, new) {
      result.append(name: field.nameBytes, value: field.valueBytes)
    }
    return result
  }

  /// The stored value of this name stands, and a new one is left out.
  private static func keeps(
    _ field: HeaderFields.Field, _ stored: HeaderFields, _ new: HeaderFields
  ) -> Bool {
    if ofTheBytes.contains(where: field.isNamed) { return true }
    if field.isNamed("etag"), let held = Validators.entityTag(stored), Validators.isWeak(held) {
      return Validators.entityTag(new).map { Validators.opaqueTag($0) == Validators.opaqueTag(held) } ?? true
    }
    return !new.contains(field.name)
  }

  private static let ofTheBytes = ["content-length", "content-encoding", "content-range"]
}
