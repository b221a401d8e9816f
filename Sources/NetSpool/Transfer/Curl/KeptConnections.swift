/// The number of connections that a multi handle keeps open, told to libcurl: unset, it drops warm ones after a burst. As many
/// as have been in flight lately, for with fewer each request beyond them would open one.
///
/// A few are its own. What it needs besides is lent by the process, which has a quarter of its descriptors for idle
/// connections, and comes back with the burst: no loop keeps the others from theirs.
struct KeptConnections {
  /// After a minute with fewer in flight the others go, the oldest first.
  private static let agesAfter: Microseconds = 60_000_000

  /// The idle connections that the multi handles of a process may keep beyond their few.
  static let room = BudgetRoom(DescriptorRoom.limit / 4)

  private let room: BudgetRoom
  private let least: Int
  private(set) var count: Int
  private var peak = 0
  private var peakSince: Microseconds = 0

  /// - Parameter few: those that need not be lent.
  init(few: Int, room: BudgetRoom = Self.room) {
    self.room = room
    (least, count) = (few, few)
  }

  /// The few of each loop, for the handle that nearly all its requests share. Another handle, of which there may be many, has
  /// the smallest number.
  static func few(ofEach loops: Int) -> Int { max(fewest, min(256, DescriptorRoom.limit / 4) / loops) }
  static let fewest = 4

  /// Returns the new number when it changes.
  mutating func change(running: Int, now: Microseconds) -> Int? {
    peak = max(peak, running)
    if running > count {
      // A quarter more, so that a burst changes it a few times only.
      let lent = room.take(running + running / 4 - count, atLeast: 1) ?? 0
      count += lent
      return lent > 0 ? count : nil
    }
    guard now - peakSince >= Self.agesAfter else { return nil }
    let needed = max(least, peak)
    (peak, peakSince) = (running, now)
    guard needed < count else { return nil }
    room.give(count - needed)
    count = needed
    return count
  }

  /// All idle connections have been closed.
  mutating func giveBack() {
    room.give(count - least)
    (count, peak) = (least, 0)
  }
}
