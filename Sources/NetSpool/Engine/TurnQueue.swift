/// What a loop has to do besides its transfers, until it comes to it: what was asked of the queue, and work that is done
/// in pieces (timers that have fired, what is done to many).
///
/// What an engine asked for is done in its order; while much waits, engines have turns, so that none waits for a hundred
/// thousand operations of another. A command of no engine is done behind everything before it, and before everything
/// behind it. Works have turns as well, a piece each: one between two commands, or between two engines' turns.
struct TurnQueue {
  typealias Command = QueueDriver.Command

  /// Something that is to be done for many. Not the closure itself: each time one goes through a generic list Swift wraps
  /// it once more.
  struct Work {
    /// Does a piece of it; answers whether more is left.
    let doPiece: () -> Bool
  }

  enum Piece {
    case command(Command)
    case work(Work)
  }

  private var works = FIFO<Work>()
  private var isWorkNext = false

  /// As they came, where there are too few to make anybody wait.
  private var few: [Command] = []
  private var fewDone = 0
  /// By the engine's number.
  private var lines: [UInt64: Runs] = [:]
  private var turns = FIFO<UInt64>()
  /// The engine whose turn it is, and how many more commands of it may be done.
  private var current: (engine: UInt64, left: Int)?
  /// Behind the next command of no engine.
  private var behind = Runs()

  private static let fewMax = 64

  /// Engines have turns.
  private var areMany: Bool { current != nil || !turns.isEmpty || !behind.isEmpty }
  var hasWork: Bool { !works.isEmpty }
  /// So much that each thing which another engine wants takes some turns: they are short ones.
  var isLong: Bool { areMany || hasWork }

  mutating func append(_ work: Work) { works.append(work) }

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

  mutating func next() -> Piece? {
    if isWorkNext {
      isWorkNext = false
      if let work = works.popFirst() { return .work(work) }
    }
    return nextCommand().map { .command($0) } ?? works.popFirst().map { .work($0) }
  }

  private mutating func nextCommand() -> Command? {
    if fewDone < few.count {
      fewDone += 1
      isWorkNext = true
      return few[fewDone - 1]
    }
    // Nothing is kept because it has asked for something.
    if fewDone > 0 { few.removeAll(keepingCapacity: true) }
    fewDone = 0
    if !areMany { return nil }
    if let command = popLine() { return command }
    let command = behind.popFirst()
    isWorkNext = true
    sort()
    return command
  }

  private mutating func popLine() -> Command? {
    if current == nil, let engine = turns.popFirst() { current = (engine, Turn.piece) }
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
    isWorkNext = current == nil
    return command
  }

  /// Up to the next command of no engine.
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
