/// Server-sent events out of their lines (WHATWG HTML section 9.2.6). Pure.
struct ServerEventParser {
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

  /// A line without its end; the event that it ends, if it does.
  mutating func take(_ line: String) -> NetworkStreamedResponse.Event? {
    var line = line[...]
    if isFirstLine, line.unicodeScalars.first == "\u{FEFF}" { line = line.dropFirst() }
    isFirstLine = false
    if line.isEmpty { return end() }
    guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else {
      set(line, "")
      return nil
    }
    var value = line[line.utf8.index(after: colon)...]
    if value.utf8.first == UInt8(ascii: " ") { value = value.dropFirst() }
    set(line[..<colon], value)
    return nil
  }

  private mutating func end() -> NetworkStreamedResponse.Event? {
    lastID = id
    defer { (name, data) = ("", nil) }
    guard let data else { return nil }
    return NetworkStreamedResponse.Event(name: name.isEmpty ? "message" : name, data: data, id: id)
  }

  private mutating func set(_ field: Substring, _ value: Substring) {
    switch field {
    case "event": name = String(value)
    case "data": data = data.map { "\($0)\n\(value)" } ?? String(value)
    case "id": if !value.utf8.contains(0) { id = String(value) }
    case "retry":
      let isNumber = !value.isEmpty && value.utf8.allSatisfy { (0x30...0x39).contains($0) }
      if isNumber, let milliseconds = Int(value) { retry = .milliseconds(milliseconds) }
    default: break
    }
  }
}

extension MediaType {
  var isEventStream: Bool { type == "text" && subtype == "event-stream" }
}
