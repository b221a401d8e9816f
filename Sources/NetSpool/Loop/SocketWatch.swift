internal import CNetSpoolUV

/// Watches one descriptor for as long as the connection lives.
///
/// libcurl asks for nothing between two transfers on a connection. Stopping the poll then and starting it
/// again costs system calls per request (-22 % CPU without them), so the watch stays armed and is stopped
/// only if it fires while nothing is wanted.
@safe
final class SocketWatch {
  struct Events: OptionSet, Sendable {
    let rawValue: Int32
    static let readable = Events(rawValue: Int32(UV_READABLE.rawValue))
    static let writable = Events(rawValue: Int32(UV_WRITABLE.rawValue))
  }

  private let handle = unsafe UVHandle<uv_poll_t>()
  private let loop: EventLoop
  private let onEvents: (Events) -> Microseconds
  private let onIdleEvent: () -> Void
  /// True if the connection stands: a read from it was wanted, or its owner has said so.
  private(set) var isEstablished = false
  /// True if the watch is worth keeping while nothing is wanted: its owner says when the descriptor closes.
  let outlivesUse: Bool
  private var wanted: Events = []
  private var armed: Events = []
  /// How many times in a row it was read from and the others did not have to wait for it.
  private var shortReads = 0
  /// How many times in a row it could be written to, and nothing was moved.
  private var vainWrites = 0
  /// True if it is not watched for writing before something is read on it, or its owner ends this.
  private var isResting = false
  /// What it has had of the loop's time, as `EventLoop.serveSlow` counts it.
  var share: Microseconds = 0

  /// Nil when the descriptor cannot be polled (a regular file).
  /// - Parameters:
  ///   - onIdleEvent: something happened while nothing was wanted.
  ///   - onEvents: serves it, and answers how long that took.
  init?(
    on loop: EventLoop, descriptor: Int32, outlivesUse: Bool = false,
    onIdleEvent: @escaping () -> Void = {}, _ onEvents: @escaping (Events) -> Microseconds
  ) {
    self.loop = loop
    self.outlivesUse = outlivesUse
    self.onEvents = onEvents
    self.onIdleEvent = onIdleEvent
    guard unsafe uv_poll_init(loop.loop, handle.pointer, descriptor) == 0 else {
      unsafe handle.discard()
      return nil
    }
    unsafe handle.setContext(self)
  }

  func want(_ events: Events) {
    wanted = events
    if events.contains(.readable) { isEstablished = true }
    guard !events.isEmpty, events != armed else { return }
    arm(events)
  }

  /// A request is about to be sent on the connection. Its answer may come before anybody wants to read.
  func didConnect() { isEstablished = true }

  private func arm(_ events: Events) {
    armed = events
    unsafe uv_poll_start(handle.pointer, events.rawValue) { handle, status, events in
      unsafe UVHandle.context(handle!, as: SocketWatch.self)?.fired(status: status, events: events)
    }
  }

  private func fired(status: Int32, events: Int32) {
    loop.awake()
    guard !wanted.isEmpty else { return firedIdle(failed: status < 0, Events(rawValue: events)) }
    // An error is reported by letting the owner read or write into it. libuv has stopped watching, so whoever
    // goes on with the descriptor says again what he wants.
    if status < 0 {
      armed = []
      isResting = false
      return serve(wanted)
    }
    isShort ? serve(Events(rawValue: events)) : loop.serveLater(self, Events(rawValue: events))
  }

  /// True if serving it is known to take next to nothing.
  private var isShort: Bool { shortReads >= Self.shortReadsMin }

  private static let shortReadsMin = 2
  private static let shortMax: Microseconds = 1_000

  /// Does what it is ready for, if anybody still wants that.
  func serve(_ events: Events) {
    guard !wanted.isEmpty else { return }
    let time = onEvents(events)
    if isResting, events.contains(.readable), !wanted.isEmpty, armed != wanted { arm(wanted) }
    if time > Self.shortMax {
      shortReads = 0
    } else if !isShort, events.contains(.readable) {
      shortReads += 1
    }
  }

  private static let vainWritesMax = 8

  /// Its owner has been told of events, and something was moved or nothing. True: it rests from now on, and its owner must
  /// end that.
  func didServe(_ events: Events, inVain: Bool) -> Bool {
    guard inVain else {
      vainWrites = 0
      return false
    }
    guard events == .writable, wanted.contains(.writable) else { return false }
    vainWrites += 1
    guard vainWrites >= Self.vainWritesMax else { return false }
    arm(wanted.subtracting(.writable))
    defer { isResting = true }
    return !isResting
  }

  func endRest() {
    guard isResting else { return }
    isResting = false
    if !wanted.isEmpty, armed != wanted { arm(wanted) }
  }

  /// That it can be written to tells nothing: what is read on it then would.
  private func firedIdle(failed: Bool, _ events: Events) {
    if !failed, events == .writable { return arm(.readable) }
    armed = []
    unsafe uv_poll_stop(handle.pointer)
    onIdleEvent()
  }

  /// Must come before the descriptor is closed: libuv aborts otherwise.
  func close() {
    wanted = []
    unsafe handle.close()
  }
}

/// Single-shot waits until a descriptor of a sink can be written to.
final class WriteWaits {
  private let loop: EventLoop
  private var watches: [Int: SocketWatch] = [:]
  private var lastKey = 0

  init(loop: EventLoop) { self.loop = loop }

  /// Calls back once; the answer calls it off. Nil when the descriptor cannot be watched (twice).
  func wait(for descriptor: Int32, _ callback: @escaping () -> Void) -> (() -> Void)? {
    lastKey += 1
    let key = lastKey
    let watch = SocketWatch(on: loop, descriptor: descriptor) { [unowned self] _ in
      let began = MonotonicClock.now
      end(key)
      callback()
      loop.markDirty()
      return loop.didHold(.socket(descriptor), since: began) - began
    }
    guard let watch else { return nil }
    watches[key] = watch
    watch.want(.writable)
    return { [weak self] in self?.end(key) }
  }

  private func end(_ key: Int) { watches.removeValue(forKey: key)?.close() }

  func close() {
    for watch in watches.values { watch.close() }
    watches = [:]
  }
}
