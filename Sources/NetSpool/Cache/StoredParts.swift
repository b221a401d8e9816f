/// Which parts of a body are stored (RFC 9111 section 3.3); where, says a `PartTable`.
struct StoredParts: Sendable, Hashable {
  /// The length of the whole body.
  let total: Int64
  /// Positions in the whole body: in order, none empty, none that touches the next.
  let ranges: [Range<Int64>]

  /// More of them are not kept.
  static let rangesMax = 64

  /// Nil unless they are as they must be.
  init?(total: Int64, ranges: [Range<Int64>]) {
    guard !ranges.isEmpty, ranges.count <= Self.rangesMax, ranges[0].lowerBound >= 0,
      ranges.allSatisfy({ !$0.isEmpty }), ranges[ranges.count - 1].upperBound <= total,
      zip(ranges, ranges.dropFirst()).allSatisfy({ $0.upperBound < $1.lowerBound })
    else { return nil }
    self.total = total
    self.ranges = ranges
  }

  var bytes: Int64 { ranges.reduce(0) { $0 + Int64($1.count) } }

  var isWhole: Bool { ranges.count == 1 && Int64(ranges[0].count) == total }

  /// True when a part of the whole body is all there.
  func covers(_ wanted: Range<Int64>) -> Bool {
    ranges.contains { $0.lowerBound <= wanted.lowerBound && wanted.upperBound <= $0.upperBound }
  }
}
