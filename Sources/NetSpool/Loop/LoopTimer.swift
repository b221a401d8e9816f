internal import CNetSpoolUV

/// A timer of the loop. Must be closed by its owner.
@safe
final class LoopTimer {
  private let handle = unsafe UVHandle<uv_timer_t>()
  private let onFire: () -> Void
  private unowned let loop: EventLoop
  private let timeline: Timeline?
  private var isOpen = true

  init(on loop: EventLoop, _ onFire: @escaping () -> Void) {
    loop.assertOnLoop()
    self.loop = loop
    self.onFire = onFire
    timeline = loop.timeline
    if timeline != nil { return }
    unsafe uv_timer_init(loop.loop, handle.pointer)
    unsafe handle.setContext(self)
  }

  /// Fires once after so many milliseconds, or again and again.
  func start(milliseconds: UInt64, repeating: UInt64 = 0) {
    if let timeline { return timeline.start(self, milliseconds: milliseconds, repeating: repeating) }
    unsafe uv_timer_start(
      handle.pointer,
      { handle in
        unsafe UVHandle.context(handle!, as: LoopTimer.self)?.fire()
      }, milliseconds, repeating)
  }

  func fire() {
    // It may let go of itself.
    let loop = loop
    let began = MonotonicClock.now
    onFire()
    loop.didHold(.timer, since: began)
  }

  func stop() {
    if let timeline { return timeline.stop(self) }
    unsafe uv_timer_stop(handle.pointer)
  }

  var isActive: Bool {
    if let timeline { return timeline.isActive(self) }
    return unsafe uv_is_active(handle.base) != 0
  }

  func close() {
    guard isOpen else { return }
    isOpen = false
    guard let timeline else { return unsafe handle.close() }
    timeline.stop(self)
    unsafe handle.discard()
  }

  deinit { precondition(!isOpen, "NetSpool: a loop timer must be closed before it is dropped") }
}

/// The contract of every libuv handle: once its init succeeded it must be closed, and its memory belongs to
/// libuv until the close callback.
@safe
struct UVHandle<Kind> {
  let pointer: UnsafeMutablePointer<Kind>

  init() { unsafe pointer = .allocate(capacity: 1) }

  /// The same memory as the base type, which libuv's generic calls take.
  var base: UnsafeMutablePointer<uv_handle_t> {
    unsafe UnsafeMutableRawPointer(pointer).assumingMemoryBound(to: uv_handle_t.self)
  }

  /// What the C callback finds its way back by; not retained.
  func setContext(_ object: AnyObject?) {
    let context = unsafe object.map { unsafe Unmanaged.passUnretained($0).toOpaque() }
    unsafe uv_handle_set_data(base, context)
  }

  static func context<Object: AnyObject>(_ handle: UnsafePointer<Kind>, as: Object.Type) -> Object? {
    let base = unsafe UnsafeRawPointer(handle).assumingMemoryBound(to: uv_handle_t.self)
    guard let context = unsafe uv_handle_get_data(base) else { return nil }
    return unsafe Unmanaged<Object>.fromOpaque(context).takeUnretainedValue()
  }

  /// Ends the handle; its memory goes in the close callback.
  func close() {
    setContext(nil)
    unsafe uv_close(base) { handle in unsafe handle?.deallocate() }
  }

  /// Only for a handle whose init failed.
  func discard() { unsafe pointer.deallocate() }
}
