/// Keeps a route table true: reads everything out, then follows the changes, and reads out again after a loss.
/// Messages go in, questions for the kernel come out; no I/O.
///
/// While it reads out, a second table is filled and the first one still counts, so that a route is never missing
/// only because it has not been read yet. Changes go to both.
struct LinkTracker: Sendable {
  /// What the kernel is to be asked.
  struct Question: Equatable, Sendable {
    /// RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE.
    enum Kind: UInt16, Sendable { case links = 18, addresses = 22, routes = 26 }
    let kind: Kind
    let sequence: UInt32
  }

  private var known: RouteTable?
  private var incoming: RouteTable?
  private var question: Question?
  private var lastSequence: UInt32 = 0
  /// The kernel will not tell.
  private var isBlind = false
  /// The tables should be read out again, when there is time.
  private(set) var wantsReading = false

  init() {}

  /// What is known; nil until the first reading has ended. Where the kernel does not tell, `assumed`.
  var state: LinkState? { isBlind ? .assumed : known?.state }

  var isReading: Bool { question != nil }

  /// Begins to read everything out. The question must be put to the kernel.
  mutating func read() -> Question {
    wantsReading = false
    incoming = RouteTable()
    return ask(.links)
  }

  private mutating func ask(_ kind: Question.Kind) -> Question {
    lastSequence &+= 1
    let question = Question(kind: kind, sequence: lastSequence)
    self.question = question
    return question
  }

  /// Messages were lost, among them perhaps the end of what is being read.
  mutating func overran() {
    question = nil
    incoming = nil
    wantsReading = true
  }

  /// The kernel cannot be asked.
  mutating func turnBlind() {
    overran()
    wantsReading = false
    isBlind = true
  }

  /// Takes a message; the answer must be put to the kernel.
  mutating func take(_ message: NetlinkMessage) -> Question? {
    let isAnswer = question != nil && message.sequence == question?.sequence
    if isAnswer, message.isInterrupted { wantsReading = true }
    switch message.content {
    case .overrun: overran()
    case .done: return isAnswer ? goOn() : nil
    case .refused(let number): if isAnswer { refused(number) }
    case let content:
      // Parts of an answer that was given up are news no more.
      if !message.isPart { follow(content) } else if isAnswer { _ = incoming?.apply(content) }
    }
    return nil
  }

  private mutating func follow(_ content: NetlinkMessage.Content) {
    let isDoubtful = known?.apply(content) ?? false
    let isDoubtfulToo = incoming?.apply(content) ?? false
    if isDoubtful || isDoubtfulToo { wantsReading = true }
  }

  private mutating func goOn() -> Question? {
    switch question?.kind {
    case .links: return ask(.addresses)
    case .addresses: return ask(.routes)
    case .routes, nil: break
    }
    question = nil
    known = incoming
    incoming = nil
    isBlind = false
    return nil
  }

  /// Busy (EBUSY): an earlier reading of ours has not ended yet, so later. Anything else will not get better;
  /// then what is known has to do.
  private mutating func refused(_ number: Int32) {
    overran()
    guard number != 16 else { return }
    wantsReading = false
    isBlind = known == nil
  }
}
