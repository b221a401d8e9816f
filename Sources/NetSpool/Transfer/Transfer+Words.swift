/// What libcurl says of its work in sentences (CURLOPT_VERBOSE), and nowhere else. Each costs it as much as a line of a head, so
/// it is asked only where one decides something.
extension Transfer {
  /// True if it must be known what the server has processed: where a request may not be sent twice otherwise (RFC 9113
  /// section 8.7).
  var asksWhatWasProcessed: Bool {
    exchange.plan.refusesResend && !exchange.plan.hasRounds && (isSecure || knowsHTTP2)
  }

  /// The first letters of the sentences that `heard` knows: the others, a dozen in each exchange, are never made a text.
  static let wordsBegin = Array("ECRUr".utf8)

  func heard(_ words: String) {
    if words.hasPrefix("Excess found") {
      // Bytes behind the answer: nobody knows whose they are (RFC 9112 section 9.2).
      handle.setEndsConnection(true)
    } else if words.hasPrefix("REFUSED_STREAM") {
      exchange.refusals += 1
      multi.givenUp.excuse(port: handle.localPort)
    } else if words.hasPrefix("Connection cache is full") {
      multi.givenUp.excuse(port: handle.localPort)
    } else if words.hasPrefix("Connection #"), words.contains("left intact") {
      multi.givenUp.didStay(port: handle.localPort)
    } else if let stream = Self.number(behind: "Using Stream ID: ", in: words) {
      exchange.stream = stream
    } else if let last = Self.number(behind: "last_stream=", in: words) {
      multi.didGoAway(localPort: handle.localPort, lastStream: last)
    }
  }

  private static func number(behind mark: String, in words: String) -> Int? {
    guard let range = words.firstRange(of: mark) else { return nil }
    return Int(words[range.upperBound...].prefix(while: \.isWholeNumber))
  }

  /// The server has said that it will not process the request: its connection goes away, and the request is behind the last one
  /// that counts. libcurl 7.88 says no more than that it was told to go, without a sentence; 8 sends it again by itself.
  func isUnprocessed(code: Int32) -> Bool {
    guard exchange.speaksHTTP2, !parser.hasBegun, exchange.head == nil else { return false }
    if exchange.stream > 0, let last = multi.book.lastStreams[handle.localPort] {
      return exchange.stream > last
    }
    return code == MultiHandle.http2Failed && handle.message.isEmpty && !exchange.plan.refusesResend
  }
}
