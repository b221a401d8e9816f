/// Keeping what goes to streams, for the cache and for those who come late.
extension Scheduler {
  /// In the middle of libcurl's work, before the streams are opened.
  func spool(_ use: CacheUse, _ transfer: Transfer, _ fanout: SinkFanout) {
    guard let spool = cacheBridge.spool(use, transfer, at: spoolPlace(of: use.cache.store)) else {
      use.claim?.giveUp()
      return
    }
    fanout.add(spool, id: 0) { _ in }  // nobody's own, and it never fails
    transfer.exchange.spool = spool
  }

  private func spoolPlace(of store: CacheStore) -> BodySpool.Place {
    let directory = store.settings.directory
    return BodySpool.Place(
      directory: directory, room: store.spools, worker: worker,
      lane: Worker.Lane(device: devices.device(of: directory)), buffers: buffers, memory: spoolMemory,
      after: { [unowned self] milliseconds, callback in timers.after(milliseconds: milliseconds, callback) })
  }
}
