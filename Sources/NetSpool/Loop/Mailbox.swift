internal import CNetSpoolShims
internal import CNetSpoolUV
internal import Dispatch
internal import Synchronization

/// The only way onto the loop thread.
///
/// The first sender to a sleeping loop pays the wake-up (uv_async_send, a write to an eventfd); all others
/// only append. Skipping it is safe because the loop falls asleep under the same lock, and only when the box
/// is empty: a sender that finds it awake is heard before it sleeps.
final class Mailbox<Message: Sendable>: Sendable {
  // Safe because uv_async_send is the one libuv call that any thread may make, and `close` takes the
  // handle away, under the lock, before the loop closes it.
  @safe
  private struct State: @unchecked Sendable {
    var messages: [Message] = []
    var wakeUp: UnsafeMutablePointer<uv_async_t>?
    /// True if the loop was woken, or is at work, and has not fallen asleep since.
    var isAwake = false
    var isClosed = false
  }

  private let state = BusyMutex(State())

  /// Any thread. False when the loop has closed and the message will never arrive.
  @discardableResult
  func send(_ message: Message) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.messages.append(message)
      Self.wake(&state)
      return true
    }
  }

  /// Loop thread, at work: takes all that came, leaving an emptied buffer in exchange.
  func drain(into buffer: inout [Message]) {
    state.withLock { state in
      state.isAwake = true
      swap(&state.messages, &buffer)
    }
  }

  /// Loop thread, with nothing left to do: from now on a sender must wake it. False when something has come.
  func fallAsleep() -> Bool {
    state.withLock { state in
      guard state.messages.isEmpty else { return false }
      state.isAwake = false
      return true
    }
  }

  /// Loop thread: from now on senders wake this handle.
  func attach(_ wakeUp: UnsafeMutablePointer<uv_async_t>) {
    state.withLock { state in
      unsafe state.wakeUp = wakeUp
      if !state.messages.isEmpty { Self.wake(&state) }
    }
  }

  /// Loop thread: refuses what comes later and answers what had come.
  func close() -> [Message] {
    state.withLock { state in
      state.isClosed = true
      unsafe state.wakeUp = nil
      defer { state.messages = [] }
      return state.messages
    }
  }

  /// Takes messages again, for another loop than that for which it was closed.
  func open() {
    state.withLock { state in (state.isClosed, state.isAwake) = (false, false) }
  }

  private static func wake(_ state: inout State) {
    guard !state.isAwake, let handle = unsafe state.wakeUp else { return }
    state.isAwake = true
    unsafe _ = uv_async_send(handle)
  }
}

/// The only way off the loop thread: what one tick produced goes to each target in one block.
///
/// A queue hop per completion costs 21-24 % of throughput; a batch does not.
final class Outbox<Item: Sendable> {
  private struct Batch {
    let target: DeliveryTarget
    let key: UInt64
    var items: [Item]
  }

  // Safe because its owner, the scheduler, is the loop thread's, and arrays call nobody back.
  @safe @exclusivity(unchecked) private var batches: [Batch] = []
  /// The room of what was handed out before.
  @safe @exclusivity(unchecked) private var spare: [Batch] = []
  /// The same of the items that closures on the loop thread have had.
  @safe @exclusivity(unchecked) private var emptied: [Item] = []
  private static var keptMax: Int { 1_024 }
  private let deliver: @Sendable (Item) -> Void

  init(deliver: @escaping @Sendable (Item) -> Void) { self.deliver = deliver }

  /// Adds an item for a target; targets are told apart by key.
  func put(_ item: Item, to target: DeliveryTarget, key: UInt64) {
    if let last = batches.lastIndex(where: { $0.key == key }) {
      batches[last].items.append(item)
    } else {
      var items: [Item] = []
      swap(&items, &emptied)
      items.append(item)
      batches.append(Batch(target: target, key: key, items: items))
    }
  }

  /// The end of the tick. Closures on the loop thread run here, after all work, so they may call anything.
  func flush() {
    while !batches.isEmpty {
      var ready = spare
      spare = []
      swap(&batches, &ready)
      for index in ready.indices { send(&ready[index]) }
      ready.removeAll(keepingCapacity: true)
      spare = ready
    }
  }

  private func send(_ batch: inout Batch) {
    let deliver = deliver
    switch batch.target {
    case .loopThread:
      Delivery.run { for item in batch.items { deliver(item) } }
      batch.items.removeAll(keepingCapacity: batch.items.count <= Self.keptMax)
      swap(&emptied, &batch.items)
    case .queue(let queue):
      let items = batch.items
      queue.async { Delivery.run { for item in items { deliver(item) } } }
    }
  }
}

/// Running user closures, and knowing that this thread does.
enum Delivery {
  /// An exit does not wait for the closures, however long they take.
  static func run(_ closures: () -> Void) { ExitGate.waiting { inside(closures) } }

  /// Runs what no caller may wait for on this thread: it would wait for itself.
  static func inside(_ body: () -> Void) {
    cnetspool_delivery_enter()
    defer { cnetspool_delivery_leave() }
    body()
  }

  /// This thread is inside a delivery, so waiting on it for another would never end.
  static var isRunning: Bool { cnetspool_delivery_depth() > 0 }
}

/// The thread or queue on which user closures run.
enum DeliveryTarget: Sendable {
  case queue(DispatchQueue)
  case loopThread
}
