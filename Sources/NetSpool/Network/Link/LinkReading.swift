/// One look at the kernel's tables, without watching them.
enum LinkReading {
  /// Datagrams taken at most; each holds dozens of entries.
  private static let datagramsMax = 4096

  /// Any thread; takes some 100 microseconds, longer on a router with very many routes. Nil when the kernel does
  /// not tell: a sandbox may forbid it.
  static func now() -> LinkState? {
    guard let socket = try? NetlinkSocket(watching: false) else { return nil }
    var tracker = LinkTracker()
    var buffer = [UInt8](repeating: 0, count: NetlinkPump.bufferBytes)
    do throws(SystemError) {
      try NetlinkPump.begin(socket, &tracker)
      for _ in 0..<datagramsMax where tracker.state == nil {
        switch try NetlinkPump.step(socket, &tracker, &buffer) {
        case .bytes: break
        case .nothing: return nil
        case .overrun: try NetlinkPump.begin(socket, &tracker)
        }
      }
    } catch { return nil }
    return tracker.state == .assumed ? nil : tracker.state
  }
}

/// Carries datagrams into a tracker and its questions to the kernel.
enum NetlinkPump {
  /// The kernel fills up to 32 KiB at once when it reads its tables out.
  static let bufferBytes = 32 << 10

  static func begin(_ socket: borrowing NetlinkSocket, _ tracker: inout LinkTracker) throws(SystemError) {
    try ask(socket, tracker.read())
  }

  private static func ask(
    _ socket: borrowing NetlinkSocket, _ question: LinkTracker.Question
  ) throws(SystemError) {
    try socket.ask(type: question.kind.rawValue, sequence: question.sequence)
  }

  /// Takes one datagram, if there is one.
  static func step(
    _ socket: borrowing NetlinkSocket, _ tracker: inout LinkTracker, _ buffer: inout [UInt8]
  ) throws(SystemError) -> NetlinkSocket.Receipt {
    let receipt = try socket.receive(into: &buffer)
    switch receipt {
    case .nothing: break
    case .overrun: tracker.overran()
    case .bytes(let count):
      var questions: [LinkTracker.Question] = []
      NetlinkReader.read(buffer.rawBytes.extracting(0..<count)) { message in
        if let question = tracker.take(message) { questions.append(question) }
      }
      for question in questions { try ask(socket, question) }
    }
    return receipt
  }
}
