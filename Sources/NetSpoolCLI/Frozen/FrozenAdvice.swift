import NetSpool

/// Commands that somebody may want next, ready to paste.
enum FrozenAdvice {
  static func command(_ words: [String], _ place: FrozenPlace) -> String {
    (["netspool", "frozen"] + words + place.words).map(ResumeCommand.quoted).joined(separator: " ")
  }

  /// The one that sends a request, with the values that are not in the store left open.
  static func thaw(_ request: FrozenOperation, _ place: FrozenPlace) -> String {
    let fields = request.secretFields.flatMap { ["--header", "\($0): ..."] }
    return command(["thaw"] + (fields.isEmpty ? [] : ["\(request.id)"]) + fields, place)
  }
}
