@testable import NetSpool

extension HeaderParser {
  /// A final head has been read to its blank line. False at the end of input means `truncatedHeaders`:
  /// libcurl calls a cut-off head a success.
  var isHeadComplete: Bool { phase == .trailers || phase == .ended }
}

/// What a parser said, comparable.
enum Said: Equatable {
  case informational(Int), connectReply(Int), head(Int, [String]), trailersEnded
}

/// Feeds whole bytes and notes every event but `.more`; reads on after a head, as trailers.
func feed(_ parser: inout HeaderParser, _ bytes: some Sequence<UInt8>) throws(NetworkError) -> [Said] {
  var rest = Array(bytes)[...]
  var said: [Said] = []
  while !rest.isEmpty {
    switch try parser.consume(&rest) {
    case .more: break
    case .informational(let head): said.append(.informational(head.status))
    case .connectReply(let status): said.append(.connectReply(status))
    case .head(let head): said.append(.head(head.status, lines(of: head.headers)))
    case .trailersEnded: said.append(.trailersEnded)
    }
  }
  return said
}

extension HeaderParser {
  /// Takes the first line of bytes that were not cut into lines; one without an end is passed over.
  mutating func consume(_ bytes: inout ArraySlice<UInt8>) throws(NetworkError) -> Event {
    guard let end = bytes.firstIndex(of: 0x0A) else {
      bytes = []
      return .more
    }
    let first = bytes[...end]
    bytes = bytes[(end + 1)...]
    return try line(first.span)
  }
}

func feed(_ parser: inout HeaderParser, _ text: String) throws(NetworkError) -> [Said] {
  try feed(&parser, text.utf8)
}

/// Hands over one line in one piece, as libcurl does.
@discardableResult
func deliver(_ line: String, to parser: inout HeaderParser) throws(NetworkError) -> HeaderParser.Event {
  let bytes = Array(line.utf8)
  return try parser.line(bytes.span)
}

func lines(of fields: Headers) -> [String] { fields.map { "\($0.name): \($0.value)" } }

/// The failure of a whole head, as `code(reason)`.
func refusal(of text: String, _ prepare: (inout HeaderParser) -> Void = { _ in }) -> String? {
  refusal(of: Array(text.utf8), prepare)
}

func refusal(of bytes: [UInt8], _ prepare: (inout HeaderParser) -> Void = { _ in }) -> String? {
  var parser = HeaderParser()
  prepare(&parser)
  return outcome {
    _ = try feed(&parser, bytes)
    guard parser.isHeadComplete, bytes.last == 0x0A else {
      throw NetworkError(.truncatedHeaders, sendState: .maybeProcessed)
    }
  }
}

/// The failure as `code(reason)`; nil when nothing failed.
func outcome(_ body: () throws -> Void) -> String? {
  failure(of: body).map { error in error.reason.map { "\(error.code)(\($0))" } ?? error.code.description }
}

func bytes(_ text: String) -> ArraySlice<UInt8> { Array(text.utf8)[...] }
