import Testing

/// A body with a name, so that the runner prints that.
struct Sample: Sendable, CustomTestStringConvertible {
  let name: String
  let type: String
  let bytes: [UInt8]
  var testDescription: String { name }

  init(_ name: String, type: String = "application/octet-stream", _ bytes: [UInt8]) {
    (self.name, self.type, self.bytes) = (name, type, bytes)
  }

  init(_ name: String, type: String = "application/octet-stream", _ text: String) {
    self.init(name, type: type, Array(text.utf8))
  }
}
