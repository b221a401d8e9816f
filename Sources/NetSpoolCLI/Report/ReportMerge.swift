import Glibc

/// Joins results files: of several records for one URL and output, the last one counts, in the order of the
/// files and of their lines.
///
/// Reads every file twice and holds none: the first reading notes, in the ledger, the number of each
/// record's last line; the second takes exactly those lines. So 10 million results take a few MiB. What can be read
/// once alone, as a pipe, is copied to the disk before.
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
    let copies = try paths.map { path throws(IOFailure) in try copy(of: path) }
    defer { withExtendedLifetime(copies) {} }
    let files = zip(paths, copies).map { path, copy in
      copy.map { "/dev/fd/\($0.descriptor.number)" } ?? path
    }
    try eachLine(of: files) { _, pull, number throws(IOFailure) in
      guard case .record(let record) = pull else { return }
      for key in Self.keys(record) { try ledger.set(key, number) }
    }
    let merged = try merged.map { path throws(IOFailure) in try OutputFile.create(path) }
    let failed = try failed.map { path throws(IOFailure) in try OutputFile.create(path) }
    var totals = Totals()
    try eachLine(of: files) { reader, pull, number throws(IOFailure) in
      totals.lines += 1
      guard case .record(let record) = pull else {
        totals.unreadable += 1
        return
      }
      for key in Self.keys(record) {
        guard try ledger.value(key) == number else {
          totals.replaced += 1
          return
        }
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

  /// Nil for a file, which can be read as often as is wanted.
  private func copy(of path: String) throws(IOFailure) -> SharedDescriptor? {
    guard FileFacts(path: path)?.isPlainFile == false else { return nil }
    let folder = Ledger.temporaryDirectory(.process)
    let copy = SharedDescriptor(try Descriptor(unlinkedTemporaryIn: folder))
    try Descriptor(opening: path, O_RDONLY).eachPiece { piece throws(IOFailure) in
      try copy.descriptor.write(Array(piece))
    }
    return copy
  }

  private func eachLine(
    of files: [String], _ body: (ResultsReader, ResultsReader.Pull, UInt32) throws(IOFailure) -> Void
  ) throws(IOFailure) {
    var number: UInt32 = 0
    for path in files {
      let reader = try ResultsReader(path)
      while true {
        let pull = try reader.next()
        if pull == .end { break }
        number += 1
        try body(reader, pull, number)
      }
    }
  }

  /// A later record that has one of them replaces it. A failure has the name that its item was to have in a tar, to which
  /// the type of an answer may have given an ending.
  private static func keys(_ record: ResultRecord) -> [Fingerprint] {
    let output = record.output ?? ""
    let names = record.tar == nil ? [output] : [output, SampleName(output).key]
    return names.map { Fingerprint(.result, record.url, $0) }
  }
}

extension Summary {
  mutating func count(_ record: ResultRecord) {
    list.lines += 1
    started += 1
    count(record.end)
  }
}
