internal import Synchronization

/// The number of connections that a multi handle keeps open, told to libcurl: unset, it drops warm ones after a burst. As many
/// as have been in flight lately, for with fewer each request beyond them would open one.
///
/// A few are its own. What it needs besides is lent by the process, which has a quarter of its descriptors for idle
/// connections, and comes back with the burst: no loop keeps the others from theirs.
struct KeptConnections {
  /// After a minute with fewer in flight the others go, the oldest first.
  private static let agesAfter: Microseconds = 60_000_000

  private let room: ConnectionRoom
  private let least: Int
  private(set) var count: Int
  private var peak = 0
  private var peakSince: Microseconds = 0

  /// - Parameter loops: which share the few that need not be lent.
  init(loops: Int, room: ConnectionRoom = .shared) {
    self.room = room
    least = max(4, min(256, room.descriptors / 4) / loops)
    count = least
  }

  /// Returns the new number when it changes.
  mutating func change(running: Int, now: Microseconds) -> Int? {
    peak = max(peak, running)
    if running > count {
      // A quarter more, so that a burst changes it a few times only.
      let lent = room.lend(running + running / 4 - count)
      count += lent
      return lent > 0 ? count : nil
    }
    guard now - peakSince >= Self.agesAfter else { return nil }
    let needed = max(least, peak)
    (peak, peakSince) = (running, now)
    guard needed < count else { return nil }
    room.takeBack(count - needed)
    count = needed
    return count
  }

  /// All idle connections have been closed.
  mutating func giveBack() {
    room.takeBack(count - least)
    (count, peak) = (least, 0)
  }
}

/// The idle connections that the loops of a process may keep beyond their few.
final class ConnectionRoom: Sendable {
  static let shared = ConnectionRoom(descriptors: DescriptorRoom.limit)

  let descriptors: Int
  private let free: Atomic<Int>

  /// - Parameter descriptors: as many as the process may have.
  init(descriptors: Int) {
    self.descriptors = descriptors
    free = Atomic(descriptors / 4)
  }

  /// Lends so many, or what is left.
  func lend(_ count: Int) -> Int {
    var free = free.load(ordering: .relaxed)
    while true {
      let lent = min(free, count)
      let (isDone, found) = self.free.weakCompareExchange(
        expected: free, desired: free - lent, ordering: .relaxed)
      if isDone { return lent }
      free = found
    }
  }

  func takeBack(_ count: Int) { free.wrappingAdd(count, ordering: .relaxed) }
}
