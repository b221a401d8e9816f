// Every method leaves the tables as they were when it throws `.refused`.

extension FrozenWriter {
  mutating func accept(
    _ accepted: FrozenRow, _ body: [UInt8], _ transaction: inout WriteTransaction
  ) throws(Refusal) -> FrozenReceipt {
    var row = accepted
    if let known = try findDuplicate(&row, transaction) {
      return FrozenReceipt(number: known, isDuplicate: true)
    }
    try takeRoom(for: row.payload.count + body.count, transaction)
    let number = nextMeta.nextNumber
    row.bodyBytes = body.count
    row.bodyChecksum = Checksum.of(body.rawBytes, seed: number)
    try writing(&transaction) { transaction throws(StoreError) in
      try transaction.append(row.encode(number).rawBytes, at: RecordKey(ordered: number), in: tables.rec)
      try transaction.append(body.rawBytes, at: RecordKey(ordered: number), in: tables.body)
    }
    try enterDedupe(number, row, &transaction)
    nextMeta.nextNumber += 1
    return FrozenReceipt(number: number)
  }

  /// The number of the request with the same dedupe key. A row whose place is taken by another key has none.
  private func findDuplicate(
    _ row: inout FrozenRow, _ transaction: borrowing WriteTransaction
  ) throws(Refusal) -> UInt64? {
    guard let key = row.dedupeKey, let dedupe = row.dedupe else { return nil }
    let found = try reading { () throws(StoreError) -> [UInt8]? in
      try transaction.bytes(at: dedupe.recordKey, in: tables.dedupe)
    }
    guard let found, found.count >= 8 else { return nil }
    if found.dropFirst(8).elementsEqual(key) { return found.rawBytes.integer(at: 0) }
    row.dedupe = nil
    return nil
  }

  private mutating func takeRoom(for bytes: Int, _ transaction: borrowing WriteTransaction) throws(Refusal) {
    let records = try reading { () throws(StoreError) in try transaction.size(of: tables.rec).records }
    if records >= settings.recordsMax { throw .refused(NetworkError(.queueFull, cause: .frozenRecords)) }
    // Pages that a long value fills, and those of the trees that may split: more than it will be.
    let needed = bytes + 8 * environment.pageBytes
    if room < needed {
      let pages = try reading { () throws(StoreError) in try tables.usedPages(transaction) }
      room = acceptedBytesMax - pages * environment.pageBytes
    }
    guard room >= needed else { throw .refused(NetworkError(.queueFull, cause: .frozenBytes)) }
    room -= needed
  }

  func attempt(
    _ number: UInt64, _ payload: [UInt8], _ transaction: inout WriteTransaction
  ) throws(Refusal) -> FrozenReceipt {
    var row = try existingRow(number, transaction)
    let receipt = FrozenReceipt(body: try body(number, row, transaction))
    row.payload = payload
    try put(row.encode(number), number, tables.rec, &transaction)
    return receipt
  }

  func postpone(_ number: UInt64, _ payload: [UInt8], _ transaction: inout WriteTransaction) throws(Refusal) {
    var row = try existingRow(number, transaction)
    row.payload = payload
    try put(row.encode(number), number, tables.rec, &transaction)
  }

  func finish(
    _ number: UInt64, _ ending: FrozenEnding, _ transaction: inout WriteTransaction
  ) throws(Refusal) {
    let row = try existingRow(number, transaction)
    try removeRequest(number, row, &transaction)
    try put(ending.encode(number), number, tables.outbox, &transaction)
  }

  func makeDeadLetter(
    _ number: UInt64, _ ending: FrozenEnding, _ keepsBody: Bool, _ transaction: inout WriteTransaction
  ) throws(Refusal) {
    let row = try existingRow(number, transaction)
    if keepsBody { try keepBody(number, row.bodyChecksum, &transaction) }
    try removeRequest(number, row, &transaction)
    try put(ending.encode(number), number, tables.dead, &transaction)
  }

  func amend(
    _ number: UInt64, _ ending: FrozenEnding, _ transaction: inout WriteTransaction
  ) throws(Refusal) {
    guard try bytes(number, tables.dead, transaction) != nil else { return }
    try put(ending.encode(number), number, tables.dead, &transaction)
  }

  /// Whole bytes go back; those of a cancelled request are gone.
  func revive(_ number: UInt64, _ revived: FrozenRow, _ transaction: inout WriteTransaction) throws(Refusal) {
    guard let kept = try bytes(number, tables.remains, transaction), kept.count >= 8 else {
      throw .refused(NetworkError(.invalidRequest, reason: "body"))
    }
    var row = revived
    row.bodyBytes = kept.count - 8
    row.bodyChecksum = kept.rawBytes.integer(at: 0)
    let body = kept.rawBytes.extracting(8..<kept.count)
    guard Checksum.of(body, seed: number) == row.bodyChecksum else { throw Self.damaged(number) }
    // Another request may have come with the key meanwhile.
    if try findDuplicate(&row, transaction) != nil { row.dedupe = nil }
    try writing(&transaction) { transaction throws(StoreError) in
      try transaction.put(row.encode(number).rawBytes, at: RecordKey(ordered: number), in: tables.rec)
      try transaction.put(body, at: RecordKey(ordered: number), in: tables.body)
    }
    try enterDedupe(number, row, &transaction)
    try remove(number, [tables.dead, tables.remains], &transaction)
  }
}

// MARK: Parts

extension FrozenWriter {
  private func enterDedupe(
    _ number: UInt64, _ row: FrozenRow, _ transaction: inout WriteTransaction
  ) throws(Refusal) {
    guard let dedupe = row.dedupe, let dedupeKey = row.dedupeKey else { return }
    var value: [UInt8] = []
    value.append(integer: number)
    value += dedupeKey
    try writing(&transaction) { transaction throws(StoreError) in
      try transaction.put(value.rawBytes, at: dedupe.recordKey, in: tables.dedupe)
    }
  }

  private func removeRequest(
    _ number: UInt64, _ row: FrozenRow, _ transaction: inout WriteTransaction
  ) throws(Refusal) {
    try remove(number, [tables.rec, tables.body], &transaction)
    if let dedupe = row.dedupe { try remove(dedupe.recordKey, tables.dedupe, &transaction) }
  }

  private func existingRow(
    _ number: UInt64, _ transaction: borrowing WriteTransaction
  ) throws(Refusal) -> FrozenRow {
    guard let found = try bytes(number, tables.rec, transaction),
      let row = FrozenRow(number, decoding: found.rawBytes)
    else { throw Self.damaged(number) }
    return row
  }

  private func body(
    _ number: UInt64, _ row: FrozenRow, _ transaction: borrowing WriteTransaction
  ) throws(Refusal) -> [UInt8] {
    guard let body = try bytes(number, tables.body, transaction), body.count == row.bodyBytes,
      Checksum.of(body.rawBytes, seed: number) == row.bodyChecksum
    else { throw Self.damaged(number) }
    return body
  }

  /// The checksum goes along, so that damage is found however long it lies there.
  private func keepBody(
    _ number: UInt64, _ checksum: UInt64, _ transaction: inout WriteTransaction
  ) throws(Refusal) {
    guard let body = try bytes(number, tables.body, transaction) else { return }
    var kept: [UInt8] = []
    kept.append(integer: checksum)
    try put(kept + body, number, tables.remains, &transaction)
  }

  static func damaged(_ number: UInt64) -> Refusal {
    .refused(NetworkError(.storeCorrupt, reason: "record \(number)"))
  }
}
