/// The priority queue that feeds the transfer layer by demand: what may run now leaves it, the rest waits here.
///
/// libcurl's own pending list costs 720 us per request at 100,000 entries (it is walked), so nothing waits
/// there. Here every operation is O(1) at any length: nodes in a slab, one list per origin and class, and per
/// class a ring of the lists that may start.
///
/// Order: inside one origin and class first in, first out; inside a class the origins with a free slot take
/// turns; between classes see `ClassTurns`.
///
/// Limits: `maximumConcurrent` in all (256 unless told), each origin's own, and 16 origins at once whose name
/// is not resolved yet, with one running element each: libcurl starts a thread per unresolved name.
///
/// A value without a clock, a lock or I/O; the loop thread owns it.
struct AdmissionQueue<Element> {
  /// How many may run at once, all origins together. Default 256. Lowering it stops nothing that runs.
  var maximumConcurrent: Int
  /// How many origins without a resolved name may run at once. Default 16.
  let maximumUnresolved: Int
  /// While true, `next()` answers nil. Default false.
  var isSuspended = false
  /// Elements waiting.
  package var count = 0
  /// Elements admitted and not finished.
  package var running = 0

  var nodes = WaitingNodes<Element>()
  var rings = ReadyRings()
  var turns = ClassTurns()
  var origins: [AdmissionOrigin] = []
  var freeOrigins: [UInt32] = []
  /// Unresolved origins with a running element.
  var unresolvedRunning = 0
  var waitingByClass = InlineArray<4, Int>(repeating: 0)
  /// One counter for all slots, so storage can be given back without forgetting which tickets are stale.
  var generation: UInt32 = 0

  init(maximumConcurrent: Int = 256, maximumUnresolved: Int = 16) {
    self.maximumConcurrent = maximumConcurrent
    self.maximumUnresolved = maximumUnresolved
  }

  /// Waiting elements for which memory is held; follows `count` down, in steps of 4,096.
  var capacity: Int { nodes.capacity }
}

extension AdmissionQueue: Sendable where Element: Sendable {}
