internal import CNetSpoolUV

/// A timer of the loop. Must be closed by its owner.
@safe
final class LoopTimer {
  private let handle = unsafe UVHandle<uv_timer_t>()
  private let onFire: () -> Void
  private var isOpen = true

  init(on loop: EventLoop, _ onFire: @escaping () -> Void) {
    loop.assertOnLoop()
    self.onFire = onFire
    unsafe uv_timer_init(loop.loop, handle.pointer)
    unsafe handle.setContext(self)
  }

  /// Fires once after so many milliseconds, or again and again.
  func start(milliseconds: UInt64, repeating: UInt64 = 0) {
    unsafe uv_timer_start(
      handle.pointer,
      { handle in
        unsafe UVHandle.context(handle!, as: LoopTimer.self)?.onFire()
      }, milliseconds, repeating)
  }

  func stop() { unsafe uv_timer_stop(handle.pointer) }

  var isActive: Bool { unsafe uv_is_active(handle.base) != 0 }

  func close() {
    guard isOpen else { return }
    isOpen = false
    unsafe handle.close()
  }

  deinit { precondition(!isOpen, "NetSpool: a loop timer must be closed before it is dropped") }
}
