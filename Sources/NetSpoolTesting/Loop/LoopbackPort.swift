import Synchronization

/// A port on loopback that is kept as long as this lives, and the thread that serves it while it is up. Any thread.
final class LoopbackPort: Sendable {
  let number: Int
  /// Bound but never listening: while nothing is up, the port refuses connections and no other process gets
  /// it.
  private let reservation: Int32
  private let waker: Waker
  private let running = Mutex<(thread: OriginThread, token: StopToken)?>(nil)

  init(waker: Waker) throws(OriginError) {
    self.waker = waker
    let reserved = try Socket.bound(port: 0)
    reservation = reserved
    do throws(OriginError) {
      number = Int(try Socket.port(of: reserved))
    } catch {
      Socket.finish(reserved)
      throw error
    }
  }

  deinit {
    stop()
    Socket.finish(reservation)
  }

  var isUp: Bool { running.withLock { $0 != nil } }

  /// Comes up; does nothing when it is. `serve` gets the listening socket, which it closes, and runs on a thread of its
  /// own until the token is stopped. It must not hold the owner of this: the last reference may go while it runs.
  func start(_ serve: @escaping @Sendable (Int32, StopToken) -> Void) throws(OriginError) {
    try running.withLock { running throws(OriginError) in
      guard running == nil else { return }
      let listener = try Socket.listening(port: UInt16(number))
      let token = StopToken()
      do throws(OriginError) {
        running = (thread: try OriginThread { serve(listener, token) }, token: token)
      } catch {
        Socket.finish(listener)
        throw error
      }
    }
  }

  /// Goes down, and waits for that unless it is called on the thread that serves.
  func stop() {
    let stopped = running.withLock { running in
      defer { running = nil }
      return running
    }
    stopped?.token.stop()
    waker.wake()
    stopped?.thread.join()
  }
}
