/// Server-sent events out of their lines (WHATWG HTML section 9.2.6). Pure.
///
/// Lines are read as bytes: `Character` makes one of a blank and the combining marks behind it, and comparing many of
/// those takes time that grows with the square of their number.
struct ServerEventParser {
  /// No caller is kept waiting for longer because an origin says so, as with `Retry-After`.
  static let retryMax = Duration.seconds(3_600)

  /// Of an event's text, without the LF between its lines.
  private let eventBytesMax: Int
  /// Of the last event that had one; nil when none has.
  private(set) var lastID: String?
  /// The time to wait before a connection is made again.
  private(set) var retry = Duration.seconds(3)
  private var name = ""
  private var data = ""
  private var hasData = false
  private var id: String?
  private var isFirstLine = true

  init(eventBytesMax: Int = .max) { self.eventBytesMax = eventBytesMax }

  /// What was not ended is dropped.
  mutating func beginConnection() { (name, data, hasData, id, isFirstLine) = ("", "", false, lastID, true) }

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
    defer { (name, data, hasData) = ("", "", false) }
    guard hasData else { return nil }
    return NetworkStreamedResponse.Event(name: name.isEmpty ? "message" : name, data: data, id: id ?? "")
  }

  private mutating func set(_ field: Substring.UTF8View, _ value: Substring.UTF8View) throws(NetworkError) {
    let text = Substring(value)
    if field.elementsEqual("event".utf8) {
      name = String(text)
    } else if field.elementsEqual("data".utf8) {
      try add(text)
    } else if field.elementsEqual("id".utf8) {
      // The standard passes over NUL alone, but no header field could carry the others back.
      if value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) { id = String(text) }
    } else if field.elementsEqual("retry".utf8), !value.isEmpty, value.allSatisfy(\.isASCIIDigit) {
      retry = min(.milliseconds(Int(text) ?? .max), Self.retryMax)
    }
  }

  /// In place: an event may have a million lines.
  private mutating func add(_ text: Substring) throws(NetworkError) {
    guard text.utf8.count <= eventBytesMax - data.utf8.count else {
      throw NetworkError(
        .bodyTooLarge, reason: "an event of more than \(eventBytesMax) bytes", sendState: .answered)
    }
    if hasData { data += "\n" }
    data += text
    hasData = true
  }
}

extension MediaType {
  var isEventStream: Bool { type == "text" && subtype == "event-stream" }
}
