/// Whether anybody but ourselves can be reached, and over what kind of link.
struct LinkState: Hashable, Sendable {
  enum Kind: Hashable, Sendable {
    /// Wired, Wi-Fi, and whatever else is not known to be metered.
    case local
    /// A radio modem or a dialled line.
    case cellular
  }

  /// The families that have an address of ours and a route over a link that works.
  var families: Set<IPFamily>
  var kind: Kind
  /// The interface of the default route, or of any route when there is no default; empty without one.
  var interface: String
  /// All that lead to others, the best first.
  var interfaces: [String]

  init(families: Set<IPFamily>, kind: Kind = .local, interface: String = "", interfaces: [String]? = nil) {
    self.families = families
    self.kind = kind
    self.interface = interface
    self.interfaces = interfaces ?? (interface.isEmpty ? [] : [interface])
  }

  /// What counts where the kernel does not tell: everything is taken to be routed, and attempts find out.
  static let assumed = LinkState(families: [.ipv4, .ipv6])
  static let unrouted = LinkState(families: [])

  var isRouted: Bool { !families.isEmpty }
}

extension LinkState.Kind {
  /// By the names that the kernel and systemd give (systemd.net-naming-scheme(7)): `wwan0`, `wwp0s20u4`, `ppp0`,
  /// and `rmnet0` of Qualcomm modems.
  init(interface name: String) {
    self = ["ww", "ppp", "rmnet"].contains(where: name.hasPrefix) ? .cellular : .local
  }
}

/// What the link is like for an engine that may use some interfaces only. Pure.
extension InterfaceRule {
  /// The one to send over now; nil: none of those that lead to others may be used. Where the kernel does not tell which do,
  /// the first that is given by its whole name.
  func best(of link: LinkState) -> String? {
    if link == .assumed { return patterns.first { !$0.hasSuffix("*") } }
    return link.interfaces.first(where: allows)
  }
}

extension LinkState {
  /// As it is for an engine that may use only some of the interfaces; nil: all.
  func limited(to rule: InterfaceRule?) -> LinkState {
    guard let rule else { return self }
    guard let name = rule.best(of: self) else { return .unrouted }
    return LinkState(families: families, kind: Kind(interface: name), interface: name)
  }
}

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

  /// The state that is known; nil until the first reading has ended. Where the kernel does not tell, `assumed`.
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

/// Lets a lost link count at once, and one that came back only when it has held for a second, so that a link that flaps
/// many times a second is one change and not many.
///
/// Times are microseconds of a clock that does not go back.
struct LinkDamper: Sendable {
  static let hold: Int64 = 1_000_000

  /// What counts.
  private(set) var settled: LinkState?
  /// When to look again; nil when nothing is held back.
  private(set) var deadline: Int64?
  private var latest: LinkState?

  /// The link is like this now. The first state counts at once.
  mutating func observe(_ state: LinkState, now: Int64) {
    let wasRouted = latest?.isRouted ?? state.isRouted
    latest = state
    if settled == nil || !state.isRouted || settled?.isRouted == true {
      settled = state
      deadline = nil
    } else if !wasRouted || deadline == nil {
      deadline = now + Self.hold
    }
    check(now: now)
  }

  /// Time has passed.
  mutating func check(now: Int64) {
    guard let until = deadline, now >= until else { return }
    settled = latest
    deadline = nil
  }
}
