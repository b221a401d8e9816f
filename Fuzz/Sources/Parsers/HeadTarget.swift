@testable import NetSpool

/// A response head as it comes off the wire, whole, line by line and in pieces.
enum HeadTarget {
  static func run(_ bytes: [UInt8]) {
    var input = InputReader(bytes)
    let piece = input.number(below: 64) + 1
    let whole = outcome(of: input.rest, pieces: input.rest.count + 1)
    require(outcome(of: input.rest, pieces: piece) == whole, "pieces are read as the whole is")
    for (status, fields) in zip(whole.statuses, whole.fields) { check(status, fields) }
  }

  private struct Outcome: Equatable {
    var statuses: [Int] = []
    var fields: [Headers] = []
    var trailers = Headers()
    var framing = Framing()
    var failure: String?
    var isComplete = false
  }

  private static func outcome(of bytes: ArraySlice<UInt8>, pieces count: Int) -> Outcome {
    var parser = HeaderParser()
    var outcome = Outcome()
    do throws(NetworkError) {
      var rest = bytes
      while !rest.isEmpty {
        var piece = rest.prefix(count)
        rest = rest.dropFirst(piece.count)
        while !piece.isEmpty {
          guard case .head(let head) = try parser.consume(&piece) else { continue }
          outcome.statuses.append(head.status)
          outcome.fields.append(head.headers)
        }
      }
      try parser.finish()
    } catch {
      outcome.failure = error.description
    }
    outcome.framing = parser.framing
    outcome.trailers = parser.trailers
    outcome.isComplete = parser.isHeadComplete
    return outcome
  }

  private static func check(_ status: Int, _ fields: Headers) {
    require((200...999).contains(status), "a status is a final one: \(status)")
    require(fields.count == fields.reduce(0) { count, _ in count + 1 }, "every field is found")
    checkSendable(fields)
    checkBlock(fields)
  }

  /// What is kept in a store is read back as it was.
  private static func checkBlock(_ fields: Headers) {
    let bytes = fields.block
    guard let again = Headers(storedBlock: bytes.rawBytes, 0..<bytes.count) else {
      broken("a block of fields can be read back")
    }
    require(again.block == bytes && again.count == fields.count, "a block is read back as it was")
  }
}
