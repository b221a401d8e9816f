#if DEBUG
@testable import TestSupport

/// What a worker asks for; its path says which worker, which lane and which of its requests.
struct CrashRequest: Sendable {
  let path: String
  let lane: String
  let isOrdered: Bool
  let isPut: Bool
  let body: [UInt8]

  init(worker: Int, serial: Int, using random: inout SplitMix64) {
    let isShared = random.chance(40)
    let number = random.below(isShared ? Worker.sharedLanes : Worker.ownLanes)
    lane = isShared ? "s\(number)" : "w\(worker)-\(number)"
    // One lane of each kind promises no order.
    isOrdered = number > 0
    isPut = random.chance(30)
    path = "\(isOrdered ? "ordered" : "loose")/\(lane)/\(worker)/\(serial)"
    let padding = random.chance(10) ? random.below(30_000) : random.below(300)
    var bytes = Array(path.utf8)
    for _ in 0..<padding { bytes.append(UInt8(truncatingIfNeeded: random.next())) }
    body = bytes
  }

  /// As the origin sees it.
  var digest: String { FrozenContent.digest(method: isPut ? "PUT" : "POST", url: "/\(path)", body: body) }
}

/// The place of a request in its lane, read from its path.
struct CrashPlace: Comparable {
  let lane: String
  let worker: Int
  let serial: Int

  /// Nil for one of a lane without order.
  init?(path: Substring) {
    let parts = path.split(separator: "/")
    guard parts.count == 4, parts[0] == "ordered", let worker = Int(parts[2]), let serial = Int(parts[3])
    else { return nil }
    (lane, self.worker, self.serial) = (String(parts[1]), worker, serial)
  }

  static func < (left: CrashPlace, right: CrashPlace) -> Bool {
    (left.worker, left.serial) < (right.worker, right.serial)
  }
}
#endif
