import Glibc

/// The one line of JSON a client prints. Keys keep the order in which they were added.
package struct Report: Sendable {
  private var fields: [String] = []

  package init(client: String, options: Options) {
    add("client", client)
    add("mode", options.mode.rawValue)
  }

  package mutating func add(_ key: String, _ value: String) { fields.append("\"\(key)\":\"\(value)\"") }
  package mutating func add(_ key: String, _ value: Int) { fields.append("\"\(key)\":\(value)") }

  /// Three decimals: a thousandth of a microsecond says more than the clock does.
  package mutating func add(_ key: String, _ value: Double) {
    fields.append("\"\(key)\":\((value * 1000).rounded() / 1000)")
  }

  /// Time and processor time, in all and per request.
  package mutating func add(_ usage: Usage, requests: Int) {
    let seconds = Double(usage.nanoseconds) / 1e9
    let count = Double(max(requests, 1))
    add("requests", requests)
    add("seconds", seconds)
    add("requests_per_second", Double(requests) / max(seconds, 1e-9))
    add("cpu_us_per_request", (usage.userMicroseconds + usage.systemMicroseconds) / count)
    add("cpu_user_us_per_request", usage.userMicroseconds / count)
    add("cpu_system_us_per_request", usage.systemMicroseconds / count)
  }

  /// The middle and the 99th percentile of latencies in nanoseconds, and a curve of them, as microseconds.
  package mutating func add(latencies: [UInt32]) {
    let sorted = latencies.sorted()
    add("p50_us", percentile(sorted, 50_000))
    add("p99_us", percentile(sorted, 99_000))
    add("latency_us", curvePoints.map { (Double($0) / 1000, percentile(sorted, $0)) })
  }

  /// The same without the curve, for one of several.
  package mutating func add(percentilesOf latencies: [UInt32], _ name: String) {
    let sorted = latencies.sorted()
    add("\(name)_count", sorted.count)
    add("\(name)_p50_us", percentile(sorted, 50_000))
    add("\(name)_p99_us", percentile(sorted, 99_000))
    add("\(name)_worst_us", percentile(sorted, 100_000))
  }

  /// Pairs, as a list of lists.
  package mutating func add(_ key: String, _ pairs: [(Double, Double)]) {
    fields.append("\"\(key)\":[\(pairs.map { "[\($0.0),\($0.1)]" }.joined(separator: ","))]")
  }

  package func print() {
    let line = Array("{\(fields.joined(separator: ","))}\n".utf8)
    _ = unsafe write(1, line, line.count)
  }
}

/// The points of a curve of percentiles, in thousandths of a percent. The last is the largest value.
private let curvePoints = [
  0, 25_000, 50_000, 75_000, 90_000, 95_000, 99_000, 99_500, 99_900, 99_950, 99_990, 100_000,
]

/// The value below which so many thousandths of a percent of a sorted list lie, in thousandths of its unit.
private func percentile(_ sorted: [UInt32], _ thousandths: Int) -> Double {
  guard !sorted.isEmpty else { return 0 }
  return Double(sorted[(sorted.count - 1) * thousandths / 100_000]) / 1000
}
