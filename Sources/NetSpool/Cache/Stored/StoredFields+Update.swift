extension StoredFields {
  /// The stored fields with those of a newer head put in their place (RFC 9111 section 3.2).
  ///
  /// Every name that `new` has replaces all stored lines of that name, except what describes the stored
  /// bytes as they lie there: Content-Length, Content-Encoding, Content-Range. A weak ETag is not made
  /// strong: the bytes were not compared. `new` has been through `make`.
  static func updated(_ stored: Headers, with new: Headers) -> Headers {
    let newNames = new.nameRanges
    let keepsTag = keepsTag(stored, new)
    let newBytes = new.block.span
    var result = stored.dropping { bytes, name in
      if isOfTheBytes(bytes, name) || keepsTag && bytes.equals("etag", in: name) { return false }
      for other in newNames where other.count == name.count {
        if newBytes.equals(bytes.extracting(name), at: other.lowerBound) { return true }
      }
      return false
    }
    result.append(
      new.dropping { isOfTheBytes($0, $1) || keepsTag && $0.equals("etag", in: $1) })
    return result
  }

  /// The stored tag is weak and the new one no other.
  private static func keepsTag(_ stored: Headers, _ new: Headers) -> Bool {
    guard let held = Validators.entityTag(stored), Validators.isWeak(held) else { return false }
    return Validators.entityTag(new).map { Validators.opaqueTag($0) == Validators.opaqueTag(held) } ?? true
  }

  /// Content-Length, Content-Encoding, Content-Range.
  private static func isOfTheBytes(_ bytes: Span<UInt8>, _ name: Range<Int>) -> Bool {
    guard name.count >= 13, bytes[name.lowerBound] | 0x20 == UInt8(ascii: "c") else { return false }
    return bytes.equals("content-length", in: name) || bytes.equals("content-encoding", in: name)
      || bytes.equals("content-range", in: name)
  }
}
