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

/// The things that sinks and spools need. Loop thread, but for what says otherwise.
final class SinkServices {
  let worker: Worker
  let buffers = AlignedBufferPool()
  /// What files lie on.
  let devices = FileDevices()
  let waits: WriteWaits
  let watch: StreamWatch
  let context: LoopContext

  init(_ context: LoopContext) {
    self.context = context
    let (port, driver) = (context.port, context.port.driver)
    waits = WriteWaits(loop: context.loop)
    watch = StreamWatch(context)
    worker = Worker(
      budgets: driver.fileWrites, threadsMax: max(1, driver.fileWrites.heldMax / driver.loops.count),
      notify: { completion in port.perform(of: QueueDriver.Command.house) { _ in completion() } })
  }

  /// Calls back on the loop, once, when a descriptor can be written to; answers how to call it off.
  func waitUntilWritable(_ descriptor: Int32, _ callback: @escaping () -> Void) -> () -> Void {
    if let cancel = waits.wait(for: descriptor, callback) { return cancel }
    let key = context.timers.after(milliseconds: 5, callback)
    return { [weak timers = context.timers] in timers?.cancel(key) }
  }

  /// Where the bodies are spooled that a store is to have.
  func spoolPlace(of store: CacheStore) -> BodySpool.Place {
    let directory = store.settings.directory
    return BodySpool.Place(
      directory: directory, room: store.spools, worker: worker,
      lane: Worker.Lane(device: devices.device(of: directory)), buffers: buffers,
      memory: context.port.driver.spoolMemory,
      slack: store.settings.slack, onDisk: store.settings.onDisk,
      after: { [timers = context.timers] in timers.after(milliseconds: $0, $1) })
  }
}
