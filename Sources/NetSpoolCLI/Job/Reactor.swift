/// Time and waiting, as the job needs them. The tests bring a clock that jumps.
protocol Reactor: AnyObject {
  /// Monotonic nanoseconds.
  var now: Int64 { get }

  /// Returns when `input` is readable, `wake` was called since the last return, or `timeout` nanoseconds
  /// have passed; nil waits for the first two only.
  func wait(input: Int32?, timeout: Int64?)

  /// Ends a wait, from any thread.
  var wake: @Sendable () -> Void { get }
}
