internal import Synchronization

extension ScriptedOrigin {
  /// Answers as a recording says: an HTTP archive (HAR 1.2), as browsers and `HTTPArchive` of NetSpoolFoundation write it.
  ///
  /// Requests are told apart by method, path and query; the hosts of the recording are of no account, and a
  /// value that `HTTPArchive` has masked stands for any. Several answers to one request are given in their
  /// order, the last one from then on; what was not recorded gets 404.
  ///
  /// - Returns: how many answers it has; nil when the text is no archive, and then nothing has changed.
  @discardableResult
  public func replay(har text: String) -> Int? {
    guard let log = AnswerJSON(reading: text)?["log"], log["entries"] != nil else { return nil }
    var answers: [String: [Answer]] = [:]
    for entry in log["entries"]?.elements ?? [] {
      guard let request = entry["request"], let response = entry["response"],
        let method = request["method"]?.string,
        let url = request["url"]?.string, let answer = Answer(har: response)
      else { continue }
      answers["\(method) \(Self.target(of: url))", default: []].append(answer)
    }
    let left = Mutex(answers)
    fallback { request in
      let name = "\(request.method) \(request.target)"
      return left.withLock { left in
        let recorded = left[name] == nil ? left.keys.filter { Self.fits(name, $0) }.min() : name
        guard let recorded, let answers = left[recorded] else { return .status(404) }
        if answers.count > 1 { left[recorded]?.removeFirst() }
        return answers[0]
      }
    }
    return answers.values.reduce(0) { $0 + $1.count }
  }

  /// Compares pair by pair, the first with method and path before it.
  private static func fits(_ name: String, _ recorded: String) -> Bool {
    let mask = "•••"
    let pairs = name.split(separator: "&", omittingEmptySubsequences: false)
    let known = recorded.split(separator: "&", omittingEmptySubsequences: false)
    return pairs.count == known.count
      && zip(pairs, known).allSatisfy { pair, other in
        pair == other || other.hasSuffix("=" + mask) && pair.hasPrefix(other.dropLast(mask.count))
      }
  }

  private static func target(of url: String) -> Substring {
    var rest = url[...]
    if let scheme = rest.firstRange(of: "://") { rest = rest[scheme.upperBound...] }
    if let fragment = rest.firstIndex(of: "#") { rest = rest[..<fragment] }
    guard let start = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
    return rest[start] == "?" ? "/" + rest[start...] : rest[start...]
  }
}

extension Answer {
  /// The fields that describe a message's framing are the origin's own; the body is recorded decoded.
  private static let dropped = [
    "content-length", "transfer-encoding", "content-encoding", "connection", "keep-alive",
  ]

  fileprivate init?(har response: AnswerJSON) {
    guard let status = response["status"]?.int else { return nil }
    self.init(status: status)
    for field in response["headers"]?.elements ?? [] {
      guard let name = field["name"]?.string, let value = field["value"]?.string,
        !Self.dropped.contains(name.lowercased())
      else { continue }
      headers.append(HeaderField(name, value))
    }
    guard let text = response["content"]?["text"]?.string else { return }
    body = response["content"]?["encoding"]?.string == "base64" ? .bytes(Base64.decode(text)) : .text(text)
  }
}

/// Base64 (RFC 4648 section 4).
private enum Base64 {
  /// Characters that are no digits are left out.
  static func decode(_ text: String) -> [UInt8] {
    let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    var bytes: [UInt8] = []
    var bits = 0
    var value = 0
    for byte in text.utf8 {
      guard let digit = digits.firstIndex(of: byte) else { continue }
      value = value << 6 | digit
      bits += 6
      guard bits >= 8 else { continue }
      bits -= 8
      bytes.append(UInt8(truncatingIfNeeded: value >> bits))
      value &= 1 << bits - 1
    }
    return bytes
  }
}
