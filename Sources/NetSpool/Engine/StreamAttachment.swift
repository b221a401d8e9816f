/// A sink that an operation asked for; made when its transfer starts.
struct StreamAttachment: Sendable {
  let makeSink: @Sendable (SinkServices) -> any Sink
  /// Its failure fails the operation; otherwise only this stream is dropped.
  let isEssential: Bool
  /// Closes one that no sink was made for.
  let close: @Sendable (NetworkError) -> Void

  init(
    isEssential: Bool, close: @escaping @Sendable (NetworkError) -> Void,
    makeSink: @escaping @Sendable (SinkServices) -> any Sink
  ) {
    self.isEssential = isEssential
    self.close = close
    self.makeSink = makeSink
  }
}

/// What sinks need of the loop.
struct SinkServices {
  let worker: Worker
  let buffers: AlignedBufferPool
  /// What files lie on.
  let devices: FileDevices
  /// Calls back on the loop, once, when a descriptor can be written to; answers how to call it off.
  let waitUntilWritable: DescriptorSink.WaitUntilWritable
  /// Calls back on the loop after so many milliseconds.
  let after: (UInt64, @escaping () -> Void) -> Void
  /// Calls back once at the end of the loop's turn, when what came together is there.
  let atTurnEnd: (@escaping () -> Void) -> Void
  /// Runs a closure on the loop. Any thread.
  let perform: @Sendable (@escaping QueueDriver.Action) -> Void
  /// What wakes a sink from any thread.
  let wake: (LoopReference<StreamSink>) -> @Sendable () -> Void
}

extension Scheduler {
  var sinkServices: SinkServices {
    SinkServices(
      worker: worker, buffers: buffers, devices: devices,
      waitUntilWritable: { [unowned self] descriptor, callback in
        if let cancel = waits.wait(for: descriptor, callback) { return cancel }
        let key = timers.after(milliseconds: 5, callback)
        return { [weak self] in self?.timers.cancel(key) }
      },
      after: { [unowned self] milliseconds, callback in
        timers.after(milliseconds: milliseconds, callback)
      },
      atTurnEnd: { [loop] callback in loop.atTurnEnd(callback) },
      perform: { [port] action in port.perform(action) },
      wake: { [port] sink in { port.perform { _ in sink.object?.wake() } } })
  }
}
