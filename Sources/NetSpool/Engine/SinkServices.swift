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
      })
  }
}
