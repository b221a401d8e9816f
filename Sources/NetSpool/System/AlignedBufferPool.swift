import Synchronization

/// Full-sized buffers between two uses. Small ones are left to the allocator, which is as fast.
final class AlignedBufferPool: Sendable {
  private let free = Mutex<[AlignedBuffer]>([])
  private let freeMax: Int

  /// Keeps at most `freeMax` buffers of 512 KiB: 8, 4 MiB, unless told otherwise.
  init(freeMax: Int = 8) { self.freeMax = freeMax }

  /// An empty buffer; a small one (it grows by itself) when few or unknown bytes are to come.
  func take(bytesExpected: Int64?) -> AlignedBuffer {
    let bytes = min(bytesExpected ?? Int64(AlignedBuffer.smallCapacity), Int64(AlignedBuffer.fullCapacity))
    if bytes == AlignedBuffer.fullCapacity, let buffer = free.withLock({ $0.popLast() }) { return buffer }
    return AlignedBuffer(capacity: Int(bytes))
  }

  /// Takes a buffer back; nobody else may hold on to it.
  func give(_ buffer: AlignedBuffer) {
    guard buffer.capacity == AlignedBuffer.fullCapacity else { return }
    buffer.removeAll()
    free.withLock { if $0.count < freeMax { $0.append(buffer) } }
  }
}
