/// Server-sent events out of their lines (WHATWG HTML section 9.2.6). Pure.
///
/// Lines are read as bytes: `Character` makes one of a blank and the combining marks behind it, and comparing many of
/// those takes time that grows with the square of their number.
struct ServerEventParser {
  /// Bytes of one event's data; 16 MiB.
  static let eventBytesMax = 16 << 20

  /// Of the last event that had one.
  private(set) var lastID = ""
  /// How long to wait before a connection is made again.
  private(set) var retry = Duration.seconds(3)
  private var name = ""
  private var data: String?
  private var id = ""
  private var isFirstLine = true

  /// What was not ended is dropped.
  mutating func beginConnection() {
    (name, data, id, isFirstLine) = ("", nil, lastID, true)
  }

  /// A line without its end; the event that it ends, if it does. Throws `bodyTooLarge`.
  mutating func take(_ line: String) throws(NetworkError) -> NetworkStreamedResponse.Event? {
    var line = line.utf8[...]
    if isFirstLine, line.starts(with: [0xEF, 0xBB, 0xBF]) { line = line.dropFirst(3) }
    isFirstLine = false
    if line.isEmpty { return end() }
    let field = line.prefix { $0 != UInt8(ascii: ":") }
    var value = line[field.endIndex...].dropFirst()
    if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
    try set(field, value)
    return nil
  }

  private mutating func end() -> NetworkStreamedResponse.Event? {
    lastID = id
    defer { (name, data) = ("", nil) }
    guard let data else { return nil }
    return NetworkStreamedResponse.Event(name: name.isEmpty ? "message" : name, data: data, id: id)
  }

  private mutating func set(_ field: Substring.UTF8View, _ value: Substring.UTF8View) throws(NetworkError) {
    let text = String(Substring(value))
    if field.elementsEqual("event".utf8) {
      name = text
    } else if field.elementsEqual("data".utf8) {
      try add(text)
    } else if field.elementsEqual("id".utf8) {
      if !value.contains(0) { id = text }
    } else if field.elementsEqual("retry".utf8), !value.isEmpty, value.allSatisfy(\.isASCIIDigit) {
      if let milliseconds = Int(text) { retry = .milliseconds(milliseconds) }
    }
  }

  /// In place: an event may have a million lines.
  private mutating func add(_ text: String) throws(NetworkError) {
    guard (data?.utf8.count ?? 0) + text.utf8.count < Self.eventBytesMax else {
      throw NetworkError(
        .bodyTooLarge, reason: "an event of more than \(Self.eventBytesMax) bytes", sendState: .answered)
    }
    if data == nil { return data = text }
    data?.append("\n")
    data?.append(text)
  }
}

extension MediaType {
  var isEventStream: Bool { type == "text" && subtype == "event-stream" }
}
