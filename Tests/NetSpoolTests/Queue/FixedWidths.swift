@testable import NetSpool

/// How an origin does at fixed widths: what an adaptive one is compared with.
struct FixedWidths: CustomStringConvertible {
  typealias Row = (width: Int, rate: Double, p99: Double, refusedPercent: Double)

  private(set) var rows: [Row] = []

  init(_ origin: SimulatedOrigin) {
    for width in [1, 2, 3, 4, 5, 8, 12, 16, 20, 24, 32, 40, 64] {
      var simulation = SizingSimulation(origin, OriginSizing(.fixed(width)))
      simulation.run(seconds: 20, answersMax: 500)
      rows.append((width, simulation.rate(), simulation.p99(), simulation.refusedPercent()))
    }
  }

  /// The narrowest of those that come within a fiftieth of the highest rate.
  var best: Row {
    let highest = rows.map(\.rate).max() ?? 0
    return rows.first { $0.rate >= 0.98 * highest } ?? rows[0]
  }

  var description: String {
    let lines = rows.map { row in
      "\(row.width)\t\(Int(row.rate))/s\tp99 \(Int(row.p99 * 1000)) ms\trefused \(Int(row.refusedPercent)) %"
    }
    return (["fixed\trate\tp99\trefused"] + lines).joined(separator: "\n")
  }
}
