extension NetworkImage {
  /// Why the bytes of a file are no whole image, `notAnImage` or `imageTruncated`; nil when they are one. Nothing
  /// is kept of them. Any thread; linear in their number at most.
  package static func defect(of bytes: RawSpan) -> String? {
    guard let info = ImageInfo.sniff(bytes) else { return "notAnImage" }
    return info.isComplete ? nil : "imageTruncated"
  }
}
