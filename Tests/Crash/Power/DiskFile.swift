#if DEBUG
@testable import TestSupport

/// The bytes of a file: what the disk has, and what it has been given and may not have yet.
struct DiskFile {
  enum Change {
    case write(offset: Int, bytes: [UInt8])
    case truncate(Int)

    func overlaps(_ range: Range<Int>) -> Bool {
      guard case .write(let offset, let bytes) = self else { return false }
      return (offset..<offset + bytes.count).overlaps(range)
    }
  }

  private(set) var durable: [UInt8] = []
  private var pending: [Change] = []

  mutating func add(_ change: Change) { pending.append(change) }

  mutating func sync() {
    for change in pending { Self.apply(change, to: &durable) }
    pending = []
  }

  /// A write with O_DSYNC is on the disk when it returns, and with it what else was given for the same place.
  mutating func sync(_ range: Range<Int>) {
    for change in pending where change.overlaps(range) { Self.apply(change, to: &durable) }
    pending.removeAll { $0.overlaps(range) }
  }

  /// What may be there after the power went: of what was not synced any part, torn between any two units.
  func crashed(_ choice: CrashChoice, using random: inout SplitMix64) -> [UInt8] {
    var bytes = durable
    for change in pending {
      switch change {
      case .truncate: if random.unit() < choice.share { Self.apply(change, to: &bytes) }
      case .write(let offset, let written):
        for piece in Self.pieces(offset, written.count, unit: choice.unit)
        where random.unit() < choice.share {
          Self.put(
            written, piece.lowerBound - offset..<piece.upperBound - offset, at: piece.lowerBound, &bytes)
        }
      }
    }
    return bytes
  }

  /// A write cut where units of the disk meet.
  private static func pieces(_ offset: Int, _ count: Int, unit: Int) -> [Range<Int>] {
    var pieces: [Range<Int>] = []
    var start = offset
    while start < offset + count {
      let end = min(offset + count, (start / unit + 1) * unit)
      pieces.append(start..<end)
      start = end
    }
    return pieces
  }

  private static func apply(_ change: Change, to bytes: inout [UInt8]) {
    switch change {
    case .write(let offset, let written): put(written, written.indices, at: offset, &bytes)
    case .truncate(let length):
      if length < bytes.count { bytes.removeLast(bytes.count - length) } else { grow(&bytes, to: length) }
    }
  }

  private static func put(_ source: [UInt8], _ range: Range<Int>, at offset: Int, _ bytes: inout [UInt8]) {
    grow(&bytes, to: offset + range.count)
    unsafe bytes.withUnsafeMutableBytes { target in
      unsafe source.withUnsafeBytes { source in
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + range.count])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: source[range]))
      }
    }
  }

  private static func grow(_ bytes: inout [UInt8], to count: Int) {
    if count > bytes.count { bytes.append(contentsOf: repeatElement(0, count: count - bytes.count)) }
  }
}

/// One way in which the power goes.
struct CrashChoice {
  /// What the disk writes at once: a page, or a sector.
  var unit: Int
  /// How much of what was not synced arrived.
  var share: Double
}

extension CrashChoice {
  init(using random: inout SplitMix64) {
    let unit = random.chance(50) ? 4_096 : 512
    switch random.below(4) {
    case 0: self.init(unit: unit, share: 0)
    case 1: self.init(unit: unit, share: 1)
    case 2: self.init(unit: unit, share: 0.5)
    default: self.init(unit: unit, share: random.unit())
    }
  }
}
#endif
