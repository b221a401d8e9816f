internal import Glibc

/// A weak reference to a loop object that may travel through other threads, and is opened on its own.
///
/// A completion has to be `Sendable` to pass through a worker, and the sink it is for belongs to the loop. Weak,
/// so that no worker thread can be the last to let go of the object.
struct LoopReference<Object: AnyObject>: @unchecked Sendable {
  // Safe because the object is reached through `object` only, which traps on any thread but the owner's.
  private weak var reference: Object?
  private let owner: pthread_t

  /// To be made on the thread that owns the object.
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
