/// Makes an answer to one request into steps. Pure: what is on the wire is decided here and nowhere else.
struct AnswerCompiler {
  let answer: Answer
  let method: String
  /// True when the client allows another request on this connection.
  let clientKeepsAlive: Bool

  /// The steps that send the answer, and whether the connection ends behind the last of them.
  func compile() -> (steps: [WirePart.Step], closes: Bool) {
    let head = answer.script == nil ? head() : []
    let body = answer.script == nil ? bodyRuns() : []
    let isPlain = answer.faults.isEmpty && answer.pace == nil && answer.delay == .zero
    var steps = answer.script?.map(\.step) ?? (isPlain ? plain(head, body) : runs(head, body))
    for fault in latestFirst(headCount: head.count) { steps.insert(.act(fault.action), atByte: fault.offset) }
    if let pace = answer.pace { steps.insert(.pace(pace), atByte: answer.pacesBodyOnly ? head.count : 0) }
    if answer.delay > .zero { steps.insert(.act(.pause(answer.delay)), at: 0) }
    return (steps, closes)
  }

  private func runs(_ head: [UInt8], _ body: [ByteRun]) -> [WirePart.Step] {
    ([ByteRun(head)] + body).map { .run($0) }
  }

  /// Head and a small body become one run, so that the common answer is one system call.
  private func plain(_ head: [UInt8], _ body: [ByteRun]) -> [WirePart.Step] {
    guard let only = body.first, body.count == 1, only.count <= 16_384, only.start == 0,
      only.count == only.block.count
    else { return runs(head, body) }
    return [.run(ByteRun(head + only.block))]
  }

  /// Faults as offsets on the wire, the last first: an insertion then moves no other's place.
  private func latestFirst(headCount: Int) -> [(offset: Int, action: FaultAction)] {
    var found: [(offset: Int, action: FaultAction)] = []
    for fault in answer.faults {
      switch fault.point {
      case .accept, .requestBody: continue
      case .requestRead: found.append((0, fault.action))
      case .head(let bytes): found.append((min(max(bytes, 0), headCount), fault.action))
      case .body(let bytes): found.append((headCount + min(max(bytes, 0), Int.max - headCount), fault.action))
      }
    }
    return found.reversed().sorted { $0.offset > $1.offset }
  }

  /// RFC 9112 section 6.3: these never have a body, whatever the header fields say.
  private var isBodiless: Bool {
    method == "HEAD" || answer.status == 204 || answer.status == 304 || (100..<200).contains(answer.status)
  }

  private var chunkSize: Int? {
    if case .chunked(let size) = answer.framing { return max(size, 1) }
    return nil
  }

  private var isChunked: Bool {
    if case .chunks = answer.body, answer.framing == .automatic { return true }
    return chunkSize != nil
  }

  private var framesItself: Bool {
    answer.headers.first("Content-Length") != nil || answer.headers.first("Transfer-Encoding") != nil
  }

  private var closes: Bool {
    answer.closesConnection || answer.script == nil && (answer.framing == .untilClose || saysClose)
      || !clientKeepsAlive
  }

  /// RFC 9112 section 9.6: with such a field it is the last answer of its connection.
  private var saysClose: Bool { answer.headers.all("Connection").contains { $0.lowercased() == "close" } }

  private func head() -> [UInt8] {
    var head: [UInt8] = []
    head.reserveCapacity(256)
    let reason = answer.reason ?? reasonPhrase(answer.status)
    head.append(contentsOf: "HTTP/1.1 \(answer.status) \(reason)\r\n".utf8)
    for field in answer.headers { head.appendField(field.name, field.value) }
    if !framesItself { appendFraming(to: &head) }
    if closes, answer.headers.first("Connection") == nil { head.appendField("Connection", "close") }
    head.append(contentsOf: "\r\n".utf8)
    return head
  }

  private func appendFraming(to head: inout [UInt8]) {
    if isBodiless, method != "HEAD" { return }
    if isChunked {
      head.appendField("Transfer-Encoding", "chunked")
    } else if answer.framing != .untilClose {
      head.appendField("Content-Length", String(answer.body.count))
    }
  }

  private func bodyRuns() -> [ByteRun] {
    if isBodiless { return [] }
    guard isChunked, !framesItself else { return answer.body.runs }
    var runs: [ByteRun] = []
    for run in answer.body.runs { appendChunks(of: run, to: &runs) }
    runs.append(ByteRun(Array("0\r\n\r\n".utf8)))
    return runs
  }

  private func appendChunks(of run: ByteRun, to runs: inout [ByteRun]) {
    var rest = run
    while rest.count > 0 {
      let (chunk, more) = rest.split(at: min(chunkSize ?? rest.count, rest.count))
      runs.append(ByteRun(Array("\(String(chunk.count, radix: 16))\r\n".utf8)))
      runs.append(chunk)
      runs.append(ByteRun([0x0d, 0x0a]))
      rest = more
    }
  }
}

extension [WirePart.Step] {
  /// Puts a step where this many bytes have been sent; behind the last byte when there are fewer.
  fileprivate mutating func insert(_ step: WirePart.Step, atByte offset: Int) {
    var left = offset
    for index in indices {
      guard case .run(let run) = self[index] else { continue }
      if left < run.count {
        let (before, after) = run.split(at: left)
        replaceSubrange(index...index, with: [.run(before), step, .run(after)])
        return
      }
      left -= run.count
    }
    append(step)
  }
}

extension [UInt8] {
  fileprivate mutating func appendField(_ name: String, _ value: String) {
    append(contentsOf: name.utf8)
    append(contentsOf: ": ".utf8)
    append(contentsOf: value.utf8)
    append(contentsOf: "\r\n".utf8)
  }
}
