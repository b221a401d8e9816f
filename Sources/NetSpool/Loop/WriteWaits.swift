/// One-shot waits until a descriptor of a sink can be written to.
final class WriteWaits {
  private let loop: EventLoop
  private var watches: [Int: SocketWatch] = [:]
  private var lastKey = 0

  init(loop: EventLoop) { self.loop = loop }

  /// Calls back once; the answer calls it off. Nil when the descriptor cannot be watched (twice).
  func wait(for descriptor: Int32, _ callback: @escaping () -> Void) -> (() -> Void)? {
    lastKey += 1
    let key = lastKey
    let watch = SocketWatch(on: loop, descriptor: descriptor) { [unowned self] _ in
      end(key)
      callback()
      loop.markDirty()
    }
    guard let watch else { return nil }
    watches[key] = watch
    watch.want(.writable)
    return { [weak self] in self?.end(key) }
  }

  private func end(_ key: Int) { watches.removeValue(forKey: key)?.close() }

  func close() {
    for watch in watches.values { watch.close() }
    watches = [:]
  }
}
