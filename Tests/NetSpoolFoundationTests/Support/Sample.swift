import Testing

/// A body with a name, so that the runner prints that, and which accessors give something for it.
struct Sample: Sendable, CustomTestStringConvertible {
  enum Format { case json, propertyList, xml }
  let name: String
  let type: String
  let bytes: [UInt8]
  let formats: Set<Format>
  var testDescription: String { name }

  init(_ name: String, type: String = "application/xml", _ bytes: [UInt8], _ formats: Set<Format> = []) {
    (self.name, self.type, self.bytes, self.formats) = (name, type, bytes, formats)
  }

  init(_ name: String, type: String = "application/xml", _ text: String, _ formats: Set<Format> = []) {
    self.init(name, type: type, Array(text.utf8), formats)
  }
}
