import Glibc

/// The tar, or the tars, that a job's bodies go to: one item after the other, each with what is known of it as JSON.
///
/// The part that grows has a name of its own, `x.tar.netspool-part`, and gets its final one when it is full or the job is
/// through. So whatever has a final name is whole, and a job that was killed goes on behind the last whole item: what the
/// tars hold is in the job's ledger, and is not fetched again. Used by the job's thread alone.
final class ShardedOutput: BodyPlace {
  let bodies: LandingFolder
  private let names: PartNames
  private let limit: ShardLimit?
  private var part: TarWriter?
  /// Of the part that grows, or of the next one.
  private var number = 0
  /// The parts that earlier runs left, and their files.
  private var earlier: [(number: Int, path: String)] = []

  /// Reads what earlier runs left, and marks in the ledger what it holds.
  init(_ path: String, limit: ShardLimit?, _ ledger: Ledger) throws {
    names = PartNames(path: path, isNumbered: limit != nil)
    self.limit = limit
    try OutputFolder.make(names.folder)
    guard let bodies = try LandingFolder(beside: path) else {
      throw Mistake("another netspool writes \(path) at the moment", .localIO)
    }
    self.bodies = bodies
    do { try takeStock(ledger) } catch {
      bodies.remove()
      throw error
    }
  }

  /// Adds an item, and removes the file with its body.
  /// - Returns: the outcome, with what its member and its tar are called.
  func add(_ fetched: FetchItem, _ outcome: FetchOutcome) throws(IOFailure) -> FetchOutcome {
    let landing = bodies.path(for: fetched)
    defer { unsafe _ = unlink(landing) }
    let body = try BodyFile(landing)
    let name = SampleName(wanted: fetched.output ?? "_")
    let member = name.body(outcome.contentType)
    let info = Self.info(fetched, outcome, member)
    let item = TarItem(
      TarHeader(name: member, size: body.bytes, modified: body.modified), (name.info(besides: member), info))
    let part = try part(for: item.bytes)
    try part.add(item, from: body)
    var placed = outcome
    placed.place = FetchOutcome.Place(member: member, tar: names.name(number))
    if isFull(part) { try publish() }
    return placed
  }

  /// Gives the last part its name, if there is one.
  func finish() throws(IOFailure) { if part != nil { try publish() } }

  /// Leaves the part that grows to the next run.
  func close() {
    part = nil
    bodies.remove()
  }

  private static func info(_ item: FetchItem, _ outcome: FetchOutcome, _ member: String) -> [UInt8] {
    guard var record = ResultRecord(item, outcome) else { return [] }
    (record.output, record.end.timings) = (member, nil)
    return record.line
  }

  /// Writes the lines of items that the tars hold and the results file does not: a run that was killed had put them here,
  /// but not there.
  /// - Parameter ledger: with the marks of `ResultsReader.markWritten`.
  func addLines(to results: OutputFile, _ ledger: Ledger) throws(IOFailure) {
    for tar in earlier {
      _ = try TarStock(tar.path) { record, key throws(IOFailure) in
        guard try ledger.insert(Fingerprint(.result, record.url, key)) == nil else { return }
        var record = record
        record.tar = names.name(tar.number)
        try results.write(record.line)
      }
    }
  }

  // MARK: Parts

  private func isFull(_ part: TarWriter, next: Int64 = 1) -> Bool {
    limit?.isFull(items: part.items, bytes: part.bytes, next: next) ?? false
  }

  /// A part with room for this many bytes.
  private func part(for bytes: Int64) throws(IOFailure) -> TarWriter {
    if let part, isFull(part, next: bytes) { try publish() }
    if let part { return part }
    let fresh: TarWriter
    if let whole = try whole { fresh = whole } else { fresh = try TarWriter(names.path(number)) }
    part = fresh
    return fresh
  }

  private func publish() throws(IOFailure) {
    try part?.finish()
    part = nil
    if limit != nil { number += 1 }
  }

  /// A copy of the one tar that an earlier run made whole: it keeps its name until the new one is whole, too.
  private var whole: TarWriter? {
    get throws(IOFailure) {
      guard limit == nil, FileFacts(path: names.path) != nil else { return nil }
      let stock = try TarStock(names.path)
      let draft = "\(bodies.path)/netspool-copy"
      let copy = try Descriptor(opening: draft, O_WRONLY | O_CREAT | O_TRUNC)
      let source = try Descriptor(opening: names.path, O_RDONLY)
      try source.eachPiece(of: stock.membersEnd) { piece throws(IOFailure) in try copy.write(Array(piece)) }
      guard unsafe rename(draft, names.path + TarWriter.partEnding) == 0 else {
        throw .last("write", names.path)
      }
      return try TarWriter(names.path, after: stock.membersEnd, items: stock.items)
    }
  }

  // MARK: What is there

  private func takeStock(_ ledger: Ledger) throws {
    let parts = try LandingFolder.names(in: names.folder).compactMap(names.part)
    number = limit == nil ? 0 : (parts.map { $0.number + ($0.isWhole ? 1 : 0) }.max() ?? 0)
    let whole = parts.filter(\.isWhole).map { names.path($0.number) }
    if parts.contains(where: { !$0.isWhole && $0.number == number }) {
      part = try partThatGrows(behind: limit == nil ? whole.first : nil, ledger)
      // It began as a copy of the one tar.
      if limit == nil, part != nil { return }
    }
    for found in parts where found.isWhole {
      let path = names.path(found.number)
      guard try stock(path, found.number, ledger).ending == .end else { throw refusal(path) }
    }
  }

  /// - Parameter behind: the whole tar that its beginning must be a copy of; nil where it began empty.
  private func partThatGrows(behind whole: String?, _ ledger: Ledger) throws -> TarWriter? {
    let path = names.path(number) + TarWriter.partEnding
    let found = try TarStock(path)
    // A file with something else in it is somebody's.
    guard !FileFacts.isLink(path), found.beginsAsTar || found.bytes == 0 else { throw refusal(path) }
    if let whole, try TarStock(whole).membersEnd > found.wholeBytes { return nil }
    let stock = try stock(path, number, ledger)
    return try TarWriter(names.path(number), after: stock.wholeBytes, items: stock.items)
  }

  private func stock(_ path: String, _ number: Int, _ ledger: Ledger) throws(IOFailure) -> TarStock {
    earlier.append((number, path))
    return try Self.stock(path, ledger)
  }

  private static func stock(_ path: String, _ ledger: Ledger) throws(IOFailure) -> TarStock {
    try TarStock(path) { record, key throws(IOFailure) in
      try ledger.set(Fingerprint(.done, record.url, key), 0)
      try ledger.set(Fingerprint(.key, record.url), OutputName.number(of: key))
      try ledger.insert(Fingerprint(.held, key))
    }
  }

  /// Marks in the ledger what the tars hold that earlier runs left, and changes none of them.
  static func mark(_ path: String, limit: ShardLimit?, _ ledger: Ledger) throws(IOFailure) {
    let names = PartNames(path: path, isNumbered: limit != nil)
    guard FileFacts(path: names.folder) != nil else { return }
    for name in try LandingFolder.names(in: names.folder) where names.part(name) != nil {
      _ = try stock(names.folder + name, ledger)
    }
  }

  private func refusal(_ path: String) -> Mistake {
    Mistake("\(path) is there and is no tar that can be gone on with; move it away", .localIO)
  }
}

/// What a tar holds: the items that are whole, and where they end.
struct TarStock {
  private(set) var items = 0
  /// Up to the end of the last whole item, and of the last member of any maker.
  private(set) var wholeBytes: Int64 = 0
  private(set) var membersEnd: Int64 = 0
  let bytes: Int64
  private(set) var ending = TarReader.Step.cut
  private(set) var beginsAsTar = true

  /// - Parameter onItem: gets what is known of each, and its key.
  init(_ path: String, onItem: (ResultRecord, String) throws(IOFailure) -> Void = { _, _ in })
    throws(IOFailure)
  {
    let reader = try TarReader(path)
    bytes = reader.bytes
    var body: SampleName?
    while true {
      let step = try reader.next()
      guard case .member(let member) = step else {
        ending = step
        if membersEnd == 0, step == .damaged || bytes < TarHeader.blockBytes { beginsAsTar = false }
        return
      }
      membersEnd = member.end
      let name = SampleName(member.header.name)
      if let key = body?.key, key == name.key, let record = try Self.record(member, reader) {
        try onItem(record, key)
        (items, wholeBytes, body) = (items + 1, member.end, nil)
      } else {
        body = name
      }
    }
  }

  private static func record(_ member: TarReader.Member, _ reader: TarReader) throws(IOFailure)
    -> ResultRecord?
  {
    guard SampleName.isInfo(member.header.name), member.header.size <= ResultsReader.lineBytesMax else {
      return nil
    }
    return ResultRecord(line: try reader.read(Int(member.header.size), at: member.body))
  }
}
