/// What was asked of a queue, until its loop comes to it. What an engine asked for is done in its order; while much
/// waits, engines have turns, so that nobody waits for a hundred thousand operations of somebody else. What is nobody's
/// own is done behind everything before it, and before everything behind it.
struct CommandLines {
  typealias Command = QueueDriver.Command

  /// As they came, where there are too few to make anybody wait.
  private var few: [Command] = []
  private var fewDone = 0
  /// By the engine's number.
  private var lines: [UInt64: Runs] = [:]
  private var turns = FIFO<UInt64>()
  /// The engine whose turn it is, and how many more commands of it may be done.
  private var current: (engine: UInt64, left: Int)?
  /// Behind the next command that is nobody's own.
  private var behind = Runs()

  private static let fewMax = 64
  private static let turnLength = 8

  /// Engines have turns.
  var areMany: Bool { current != nil || !turns.isEmpty || !behind.isEmpty }

  /// Takes what has come. Only what waits in lines is added to: what is here then is never much.
  mutating func take(from mailbox: Mailbox<Command>) {
    if !few.isEmpty { return }
    mailbox.drain(into: &few)
    if few.count <= Self.fewMax, !areMany { return }
    behind.append(few[...])
    // A burst of a million must not keep its buffer.
    few = []
    sort()
  }

  mutating func next() -> Command? {
    if fewDone < few.count {
      fewDone += 1
      return few[fewDone - 1]
    }
    // Nobody is kept because he has asked for something.
    if fewDone > 0 { few.removeAll(keepingCapacity: true) }
    fewDone = 0
    if !areMany { return nil }
    if let command = popLine() { return command }
    let command = behind.popFirst()
    sort()
    return command
  }

  private mutating func popLine() -> Command? {
    if current == nil, let engine = turns.popFirst() { current = (engine, Self.turnLength) }
    guard let (engine, left) = current, let command = lines[engine]?.popFirst() else { return nil }
    if lines[engine]?.isEmpty != false {
      lines[engine] = nil
      current = nil
    } else if left == 1 {
      turns.append(engine)
      current = nil
    } else {
      current = (engine, left - 1)
    }
    return command
  }

  /// Up to the next one that is nobody's own.
  private mutating func sort() {
    while let engine = behind.first?.engine {
      if lines[engine] == nil { turns.append(engine) }
      lines[engine, default: Runs()].append(behind.popRun(of: engine))
    }
  }

  /// Commands in a row. Those of one engine come in a row mostly, and are not touched one by one to be sorted.
  private struct Runs {
    private var front: ArraySlice<Command> = []
    private var rest = FIFO<ArraySlice<Command>>()

    var isEmpty: Bool { front.isEmpty }
    var first: Command? { front.first }

    /// None of them is empty, or it would hide those behind it.
    mutating func append(_ run: ArraySlice<Command>) {
      if run.isEmpty { return }
      if front.isEmpty { front = run } else { rest.append(run) }
    }

    mutating func popFirst() -> Command? {
      defer { advance() }
      return front.popFirst()
    }

    /// As many as there are in a row of this engine's.
    mutating func popRun(of engine: UInt64) -> ArraySlice<Command> {
      var end = front.startIndex
      while end < front.endIndex, front[end].engine == engine { end += 1 }
      defer {
        front = front[end...]
        advance()
      }
      return front[..<end]
    }

    /// An empty slice would keep what was in its array.
    private mutating func advance() {
      if front.isEmpty { front = rest.popFirst() ?? [] }
    }
  }
}
