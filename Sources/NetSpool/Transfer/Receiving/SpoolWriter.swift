internal import Synchronization

/// A `BodySpool`'s half on the worker: the file, made by the first job.
///
/// The jobs of one spool share a lane, so the lock is never waited for; the loop thread does not take it.
final class SpoolWriter: Sendable {
  private let directory: String
  private let room: BudgetRoom
  private let memory: BudgetRoom
  private let buffers: AlignedBufferPool
  private let onDisk: (@Sendable () -> Void)?
  private let file = Mutex<SpoolFile?>(nil)
  private let isOver = Atomic(false)
  /// Bytes that wait, or are being written.
  private let waiting = Atomic(0)

  init(_ place: BodySpool.Place) {
    (directory, room, memory, buffers) = (place.directory, place.room, place.memory, place.buffers)
    onDisk = place.onDisk
  }

  /// The loop: a buffer is about to come. False, and it is let go, when so much waits already.
  func add(_ buffer: AlignedBuffer, behindMax: Int) -> Bool {
    guard behind + buffer.count <= behindMax else {
      giveBack(buffer)
      return false
    }
    waiting.add(buffer.count, ordering: .relaxed)
    return true
  }

  /// Bytes that wait for the disk.
  var behind: Int { waiting.load(ordering: .relaxed) }

  /// Any thread: what still comes is not written.
  func giveUp() { isOver.store(true, ordering: .relaxed) }

  /// The worker. Nil when not all that came could be written.
  func write(_ buffer: AlignedBuffer) -> SpoolFile? {
    defer {
      waiting.subtract(buffer.count, ordering: .relaxed)
      giveBack(buffer)
    }
    guard !isOver.load(ordering: .relaxed) else { return nil }
    onDisk?()
    do throws(SystemError) {
      return try file.withLock { file throws(SystemError) -> SpoolFile in
        let spool = if let file { file } else { try SpoolFile(in: directory, room: room) }
        file = spool
        try buffer.withBytes { bytes throws(SystemError) in try spool.append(bytes) }
        return spool
      }
    } catch {
      giveUp()
      return nil
    }
  }

  /// Any thread: a buffer is not used any more.
  func giveBack(_ buffer: AlignedBuffer) {
    buffers.give(buffer)
    memory.give(AlignedBuffer.fullCapacity)
  }
}
