/// A sink that an operation asked for; made when its transfer starts.
struct StreamAttachment: Sendable {
  typealias MakeSink = @Sendable (SinkServices) -> any Sink

  /// Its failure fails the operation; otherwise only this stream is dropped.
  let isEssential: Bool
  /// What there is of its body already.
  var part: PartFile?
  /// The rest of a body is as good to it as the whole: it keeps nothing.
  var isWatching = false
  /// Closes one that no sink was made for.
  let close: @Sendable (NetworkError) -> Void
  let makeSink: MakeSink
}

extension [StreamAttachment] {
  /// The part that a body may go on with: that of the only stream which keeps anything. Others would lack the beginning.
  var part: PartFile? {
    var keeping = lazy.filter { !$0.isWatching }.makeIterator()
    let first = keeping.next()
    return keeping.next() == nil ? first?.part : nil
  }
}

/// The things of the loop that sinks need. A view of the scheduler: it is made anew for each sink, most of which need little of it.
struct SinkServices {
  unowned let scheduler: Scheduler

  var worker: Worker { scheduler.worker }
  var buffers: AlignedBufferPool { scheduler.buffers }
  /// What files lie on.
  var devices: FileDevices { scheduler.devices }
  /// Calls back on the loop, once, when a descriptor can be written to; answers how to call it off.
  var waitUntilWritable: DescriptorSink.WaitUntilWritable {
    { [unowned scheduler] descriptor, callback in
      if let cancel = scheduler.waits.wait(for: descriptor, callback) { return cancel }
      let key = scheduler.timers.after(milliseconds: 5, callback)
      return { [weak scheduler] in scheduler?.timers.cancel(key) }
    }
  }

  /// Calls back on the loop after so many milliseconds.
  func after(_ milliseconds: UInt64, _ callback: @escaping () -> Void) {
    scheduler.timers.after(milliseconds: milliseconds, callback)
  }

  /// Calls back once at the end of the loop's turn, when what came together is there.
  var atTurnEnd: (@escaping () -> Void) -> Void {
    { [loop = scheduler.loop] callback in loop.atTurnEnd(callback) }
  }

  /// Runs a closure on the loop. Any thread.
  var perform: @Sendable (@escaping QueueDriver.Action) -> Void {
    { [port = scheduler.port] action in port.perform(action) }
  }

  /// What wakes a sink from any thread.
  func wake(_ sink: LoopReference<StreamSink>) -> @Sendable () -> Void {
    { [port = scheduler.port] in port.perform { _ in sink.object?.wake() } }
  }
}

extension Scheduler {
  var sinkServices: SinkServices { SinkServices(scheduler: self) }
}
