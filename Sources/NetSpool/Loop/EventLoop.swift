internal import CNetSpoolUV
internal import Glibc

/// A libuv loop on one thread: a reactor of three steps that repeat.
///
/// 1. libuv waits for sockets, timers and the mailbox's wake-up, and calls their handlers.
/// 2. Handlers only note what happened, and mark the loop *dirty*.
/// 3. After them (uv_check), and once more before sleeping if still dirty (uv_prepare), `onTurn` does the
///    work of all of them at once. Batching here is what makes one delivery block per tick possible.
///
/// Not Sendable: it is born on its thread and never leaves it.
@safe
final class EventLoop {
  let loop: UnsafeMutablePointer<uv_loop_t>
  private let wakeUp: UVHandle<uv_async_t>
  private let prepare: UVHandle<uv_prepare_t>
  private let check: UVHandle<uv_check_t>
  private let thread = pthread_self()
  private var isDirty = false
  private var isStopped = false
  /// libuv waits: the next handler that is called wakes this up.
  private var isAsleep = false

  // Safe because all of this is touched on the loop's thread, and arrays call nobody back.
  /// The sockets that were ready in this round and may take long.
  @safe @exclusivity(unchecked) private var slow: [(watch: SocketWatch, events: SocketWatch.Events)] = []
  /// What the one that was served last had had of the loop before.
  private var shareServed: Microseconds = 0

  /// What is to be done once when the turn is over.
  @safe @exclusivity(unchecked) private var turnEnds: [() -> Void] = []

  /// Does the tick's work, what came by the mailbox included.
  var onTurn: () -> Void = {}
  /// A holder has had the loop for too long.
  var onHeld: (LoopHolder, Microseconds) -> Void = { _, _ in }
  private let watch: LoopWatch
  /// Where its timers are, if time is a model's.
  let timeline: Timeline?

  /// The most that libuv opens for a loop: its epoll and rings, two pipes for signals, the wake-up. Without the first
  /// pipe, of which a process has one, libuv calls `abort`.
  private static let descriptorsToStart = 8

  init<Message>(
    mailbox: Mailbox<Message>, watch: LoopWatch = LoopWatch(), timeline: Timeline? = nil
  ) throws(NetworkError) {
    self.watch = watch
    self.timeline = timeline
    if let code = DescriptorRoom.refusal(of: Self.descriptorsToStart) {
      throw NetworkError(.engineStartFailed, cause: .files, underlying: .errno(code))
    }
    unsafe loop = .allocate(capacity: 1)
    var code = unsafe uv_loop_init(loop)
    guard code == 0 else {
      unsafe loop.deallocate()
      throw NetworkError(.engineStartFailed, cause: .loop, underlying: .uv(code))
    }
    unsafe wakeUp = UVHandle()
    unsafe prepare = UVHandle()
    unsafe check = UVHandle()
    unsafe uv_prepare_init(loop, prepare.pointer)
    unsafe uv_check_init(loop, check.pointer)
    code = unsafe uv_async_init(loop, wakeUp.pointer) { handle in
      unsafe UVHandle.context(handle!, as: EventLoop.self)?.markDirty()
    }
    guard code == 0 else {
      unsafe wakeUp.discard()
      unsafe prepare.close()
      unsafe check.close()
      _ = finish()
      throw NetworkError(.engineStartFailed, cause: .files, underlying: .uv(code))
    }
    start()
    unsafe mailbox.attach(wakeUp.pointer)
  }

  private func start() {
    unsafe wakeUp.setContext(self)
    unsafe prepare.setContext(self)
    unsafe check.setContext(self)
    unsafe uv_prepare_start(prepare.pointer) { handle in
      unsafe UVHandle.context(handle!, as: EventLoop.self)?.turnBeforeSleep()
    }
    unsafe uv_check_start(check.pointer) { handle in
      unsafe UVHandle.context(handle!, as: EventLoop.self)?.turnBehindSockets()
    }
  }

  private func turnBehindSockets() {
    awake()
    serveSlow()
    if !isStopped { turn() }
  }

  private func turn() {
    awake()
    isDirty = false
    onTurn()
    guard !turnEnds.isEmpty else { return }
    let ends = turnEnds
    turnEnds = []
    for end in ends { end() }
  }

  /// Calls back once, when the turn that goes on or comes next is over: what is done there is done once for all of it.
  func atTurnEnd(_ callback: @escaping () -> Void) {
    turnEnds.append(callback)
    isDirty = true
  }

  /// Behind libuv's wait, before anything else is done.
  func awake() {
    guard isAsleep else { return }
    isAsleep = false
    watch.becomes(busy: true)
    ExitGate.enter()
  }

  /// libuv is about to wait: what is still to be done must not wait with it.
  private func turnBeforeSleep() {
    if isDirty { turn() }
    if isDirty { unsafe _ = uv_async_send(wakeUp.pointer) }
    isAsleep = true
    watch.becomes(busy: false)
    ExitGate.leave()
  }

  /// Something happened that the next turn must see before the loop sleeps.
  func markDirty() { isDirty = true }

  /// A holder has had the loop since then; answers what time it is.
  @discardableResult @inline(__always)
  func didHold(_ holder: @autoclosure () -> LoopHolder, since began: Microseconds) -> Microseconds {
    let now = MonotonicClock.now
    if watch.note(now - began) { onHeld(holder(), now - began) }
    return now
  }

  /// A socket was served, and the next turn must see it; answers how long it took. With large bodies each takes long and
  /// many may be ready: then the turn does not wait for all of them, and neither do commands.
  func didServeSocket(_ descriptor: Int32, since began: Microseconds) -> Microseconds {
    isDirty = true
    let now = didHold(.socket(descriptor), since: began)
    guard now / 1000 - Int64(unsafe uv_now(loop)) >= Turn.length / 1000 else { return now - began }
    turn()
    unsafe uv_update_time(loop)
    return now - began
  }

  /// A socket is ready that has taken long, or that is not known yet: those that take next to nothing go first.
  func serveLater(_ watch: SocketWatch, _ events: SocketWatch.Events) { slow.append((watch, events)) }

  /// The socket that has had the least of the loop's time comes first, so that dozens that take much are not all served before
  /// one that wants little. Those for which no time is left are found ready again in the next round.
  ///
  /// A socket that had nothing to do meanwhile has nothing saved up: its share counts from that of the one whose turn it is
  /// (start-time fair queuing, Goyal, Vin and Cheng, 1996).
  private func serveSlow() {
    guard !slow.isEmpty else { return }
    let ready = slow.count == 1 ? slow : slow.sorted { $0.watch.share < $1.watch.share }
    slow = []
    var now = MonotonicClock.now
    let turn = Turn(from: now)
    for (watch, events) in ready {
      shareServed = max(shareServed, watch.share)
      let began = now
      watch.serve(events)
      now = MonotonicClock.now
      watch.share = shareServed + min(max(1, now - began), Self.shareMax)
      if isStopped || turn.isOver(at: now) { return }
    }
  }

  /// A call counts for so much at most: where it took longer, the machine may have been at something else.
  private static let shareMax = 4 * Turn.length

  /// Dies with a sentence when called from another thread: loop objects have no locks.
  func assertOnLoop(_ what: StaticString = #function) {
    precondition(isOnLoop, "NetSpool: \(what) belongs to the loop thread; send a command instead")
  }

  var isOnLoop: Bool { pthread_equal(pthread_self(), thread) != 0 }

  /// Runs until every handle is closed.
  func run() {
    unsafe _ = uv_run(loop, UV_RUN_DEFAULT)
    // Found ready in the last round: its owner has closed it, and it would keep owner and loop.
    slow = []
    awake()
  }

  /// For a model: does what there is to do, without waiting.
  func runOnce() { repeat { turn() } while isDirty }

  /// Closes the loop's own handles; `run` ends when those of others are closed too.
  func stop() {
    isStopped = true
    unsafe wakeUp.close()
    unsafe prepare.close()
    unsafe check.close()
  }

  /// Frees the loop after `run` and returns how many handles were left open, which must be none.
  func finish() -> Int {
    unsafe uv_run(loop, UV_RUN_NOWAIT)
    var left = 0
    if unsafe uv_loop_close(loop) != 0 {
      unsafe uv_walk(
        loop,
        { _, count in
          unsafe count!.assumingMemoryBound(to: Int.self).pointee += 1
        }, &left)
      return left  // the memory stays: freeing it under open handles would be worse
    }
    unsafe loop.deallocate()
    return 0
  }
}

/// A weak reference to a loop object that may travel through other threads, and is opened on its own.
///
/// A completion has to be `Sendable` to pass through a worker, and the sink it is for belongs to the loop. Weak,
/// so that no worker thread can be the last to let go of the object.
struct LoopReference<Object: AnyObject>: @unchecked Sendable {
  // Safe because the object is reached through `object` only, which traps on any thread but the owner's.
  private weak var reference: Object?
  private let owner: pthread_t

  /// Makes a reference; to be called on the thread that owns the object.
  init(_ object: Object) {
    reference = object
    owner = pthread_self()
  }

  /// The object, if it still lives; traps off its owner's thread.
  var object: Object? {
    precondition(
      pthread_equal(owner, pthread_self()) != 0,
      "NetSpool: \(Object.self) was called on another thread than the one it belongs to")
    return reference
  }
}
