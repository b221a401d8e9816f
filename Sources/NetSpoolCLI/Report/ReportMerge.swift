/// Joins results files: of several records for one URL and output, the last one counts, in the order of the
/// files and of their lines.
///
/// Reads every file twice and holds none: the first reading notes, in the ledger, the number of each
/// record's last line; the second takes exactly those lines. So 10 million results take a few MiB.
struct ReportMerge {
  let paths: [String]
  let ledger: Ledger

  struct Totals: Equatable {
    var summary = Summary()
    var lines = 0
    var replaced = 0
    var unreadable = 0
  }

  /// Writes the lines that count to the file `merged`, as they are, and those that are not done to the file
  /// `failed`, as a list. Both are begun after the first reading: a file that cannot be read costs no earlier
  /// output.
  func run(merged: String? = nil, failed: String? = nil) throws(IOFailure) -> Totals {
    try eachLine { _, pull, number throws(IOFailure) in
      if case .record(let record) = pull { try ledger.set(Self.key(record), number) }
    }
    let merged = try merged.map { path throws(IOFailure) in try OutputFile.create(path) }
    let failed = try failed.map { path throws(IOFailure) in try OutputFile.create(path) }
    var totals = Totals()
    try eachLine { reader, pull, number throws(IOFailure) in
      totals.lines += 1
      guard case .record(let record) = pull else {
        totals.unreadable += 1
        return
      }
      guard try ledger.value(Self.key(record)) == number else {
        totals.replaced += 1
        return
      }
      totals.summary.count(record)
      try merged?.write(reader.currentBytes)
      try merged?.write([0x0A])
      if record.end.ending != .done {
        try failed?.write(url: URLText.withoutMask(record.url), output: record.output)
      }
    }
    try merged?.flush()
    try failed?.flush()
    return totals
  }

  private func eachLine(_ body: (ResultsReader, ResultsReader.Pull, UInt32) throws(IOFailure) -> Void)
    throws(IOFailure)
  {
    var number: UInt32 = 0
    for path in paths {
      let reader = try ResultsReader(path)
      while true {
        let pull = try reader.next()
        if pull == .end { break }
        number += 1
        try body(reader, pull, number)
      }
    }
  }

  private static func key(_ record: ResultRecord) -> Fingerprint {
    Fingerprint(.result, record.url, record.output ?? "")
  }
}

extension Summary {
  mutating func count(_ record: ResultRecord) {
    list.lines += 1
    started += 1
    count(record.end)
  }
}
