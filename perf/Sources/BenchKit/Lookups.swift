/// Lookups of bodies by key, timed in batches: a clock reading would cost as much as a good part of one.
package struct Lookups {
  /// Scatters the order, the same for every client. Prime.
  private static let stride = 7_919
  private static let batch = 1_000

  private let options: Options
  private var errors = 0
  /// Nanoseconds per lookup, for each batch.
  private var costs: [Double] = []

  package init(_ options: Options) { self.options = options }

  /// `find` answers how many of the lookups, given by the numbers of what is looked for, failed.
  package mutating func run(_ find: ([Int]) -> Int) {
    let batch = max(1, min(Self.batch, options.requests))
    errors += find(indices(0..<options.warmup))
    for number in 0..<max(1, options.requests / batch) {
      let first = options.warmup + number * batch
      let wanted = indices(first..<(first + batch))
      let begin = Clock.monotonic()
      errors += find(wanted)
      costs.append(Double(Clock.monotonic() - begin) / Double(batch))
    }
  }

  /// Numbers of bodies, in the order in which they are looked up.
  package func indices(_ range: Range<Int>) -> [Int] {
    range.map { $0 * Self.stride % max(1, options.distinct) }
  }

  /// What they have cost, and the process.
  package func add(to report: inout Report) {
    let sorted = costs.sorted()
    report.add("lookup_ns", sorted[sorted.count / 2])
    report.add("lookup_p99_ns", sorted[(sorted.count - 1) * 99 / 100])
    report.add("rss_max_bytes", Memory.peak())
    report.add("errors", errors)
  }
}

/// Reads a byte of each page, as somebody who was given the body would at least.
package func touch(_ body: UnsafeRawBufferPointer) -> Int {
  var sum = 0
  for index in stride(from: 0, to: body.count, by: 4_096) { sum &+= unsafe Int(body[index]) }
  return sum
}
