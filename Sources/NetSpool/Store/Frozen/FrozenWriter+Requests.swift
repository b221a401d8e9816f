// Every method leaves the tables as they were when it answers a failure.

extension FrozenWriter {
  mutating func accept(
    _ accepted: FrozenRow, _ body: [UInt8], _ transaction: inout WriteTransaction
  ) throws(StoreError) -> FrozenAnswer {
    var row = accepted
    if let known = try findDuplicate(&row, transaction) {
      return .success(FrozenReceipt(number: known, isDuplicate: true))
    }
    if let cause = try takeRoom(for: row.payload.count + body.count, transaction) {
      return .failure(NetworkError(.queueFull, cause: cause))
    }
    let number = nextMeta.nextNumber
    row.bodyBytes = body.count
    row.bodyChecksum = Checksum.of(body.rawBytes, seed: number)
    try transaction.append(row.encode(number).rawBytes, at: RecordKey(ordered: number), in: tables.rec)
    try transaction.append(body.rawBytes, at: RecordKey(ordered: number), in: tables.body)
    try enterDedupe(number, row, &transaction)
    nextMeta.nextNumber += 1
    return .success(FrozenReceipt(number: number))
  }

  /// The number of the request with the same dedupe key. A row whose place is taken by another key has none.
  private func findDuplicate(
    _ row: inout FrozenRow, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> UInt64? {
    guard let key = row.dedupeKey, let dedupe = row.dedupe,
      let found = try transaction.bytes(at: dedupe.recordKey, in: tables.dedupe), found.count >= 8
    else { return nil }
    if found.dropFirst(8).elementsEqual(key) { return found.rawBytes.integer(at: 0) }
    row.dedupe = nil
    return nil
  }

  /// Says what there is too much of; nil when it is taken.
  private mutating func takeRoom(
    for bytes: Int, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> NetworkError.Cause? {
    if try transaction.size(of: tables.rec).records >= settings.recordsMax { return .frozenRecords }
    // Pages that a long value fills, and those of the trees that may split: more than it will be.
    let needed = bytes + 8 * environment.pageBytes
    if room < needed {
      room = try acceptedBytesMax - tables.usedPages(transaction) * environment.pageBytes
    }
    guard room >= needed else { return .frozenBytes }
    room -= needed
    return nil
  }

  func attempt(
    _ number: UInt64, _ payload: [UInt8], _ transaction: inout WriteTransaction
  ) throws(StoreError) -> FrozenAnswer {
    guard var row = try existingRow(number, transaction),
      let body = try existingBody(number, row, transaction)
    else { return Self.damaged(number) }
    row.payload = payload
    try put(row.encode(number), number, tables.rec, &transaction)
    return .success(FrozenReceipt(body: body))
  }

  func postpone(
    _ number: UInt64, _ payload: [UInt8], _ transaction: inout WriteTransaction
  ) throws(StoreError) -> FrozenAnswer {
    guard var row = try existingRow(number, transaction) else { return Self.damaged(number) }
    row.payload = payload
    try put(row.encode(number), number, tables.rec, &transaction)
    return .success(FrozenReceipt())
  }

  func finish(
    _ number: UInt64, _ ending: FrozenEnding, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> FrozenAnswer {
    guard let row = try existingRow(number, transaction) else { return Self.damaged(number) }
    try removeRequest(number, row, &transaction)
    try put(ending.encode(number), number, tables.outbox, &transaction)
    return .success(FrozenReceipt())
  }

  func makeDeadLetter(
    _ number: UInt64, _ ending: FrozenEnding, _ keepsBody: Bool, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> FrozenAnswer {
    guard let row = try existingRow(number, transaction) else { return Self.damaged(number) }
    if keepsBody { try keepBody(number, row.bodyChecksum, &transaction) }
    try removeRequest(number, row, &transaction)
    try put(ending.encode(number), number, tables.dead, &transaction)
    return .success(FrozenReceipt())
  }

  func amend(
    _ number: UInt64, _ ending: FrozenEnding, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard try transaction.bytes(number, in: tables.dead) != nil else { return }
    try put(ending.encode(number), number, tables.dead, &transaction)
  }

  /// Whole bytes go back; those of a cancelled request are gone.
  func revive(
    _ number: UInt64, _ revived: FrozenRow, _ transaction: inout WriteTransaction
  ) throws(StoreError) -> FrozenAnswer {
    guard let kept = try transaction.bytes(number, in: tables.remains), kept.count >= 8 else {
      return .failure(NetworkError(.invalidRequest, reason: "body"))
    }
    var row = revived
    row.bodyBytes = kept.count - 8
    row.bodyChecksum = kept.rawBytes.integer(at: 0)
    let body = kept.rawBytes.extracting(8..<kept.count)
    guard Checksum.of(body, seed: number) == row.bodyChecksum else { return Self.damaged(number) }
    // Another request may have come with the key meanwhile.
    if try findDuplicate(&row, transaction) != nil { row.dedupe = nil }
    try put(row.encode(number), number, tables.rec, &transaction)
    try transaction.put(body, at: RecordKey(ordered: number), in: tables.body)
    try enterDedupe(number, row, &transaction)
    try remove(number, [tables.dead, tables.remains], &transaction)
    return .success(FrozenReceipt())
  }
}

// MARK: Parts

extension FrozenWriter {
  private func enterDedupe(
    _ number: UInt64, _ row: FrozenRow, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard let dedupe = row.dedupe, let dedupeKey = row.dedupeKey else { return }
    var value: [UInt8] = []
    value.append(integer: number)
    value += dedupeKey
    try transaction.put(value.rawBytes, at: dedupe.recordKey, in: tables.dedupe)
  }

  private func removeRequest(
    _ number: UInt64, _ row: FrozenRow, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    try remove(number, [tables.rec, tables.body], &transaction)
    if let dedupe = row.dedupe { try transaction.remove(at: dedupe.recordKey, in: tables.dedupe) }
  }

  /// Nil when it is not there, or not what was written.
  private func existingRow(
    _ number: UInt64, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> FrozenRow? {
    try transaction.bytes(number, in: tables.rec).flatMap { FrozenRow(number, decoding: $0.rawBytes) }
  }

  private func existingBody(
    _ number: UInt64, _ row: FrozenRow, _ transaction: borrowing WriteTransaction
  ) throws(StoreError) -> [UInt8]? {
    guard let body = try transaction.bytes(number, in: tables.body), body.count == row.bodyBytes,
      Checksum.of(body.rawBytes, seed: number) == row.bodyChecksum
    else { return nil }
    return body
  }

  /// The checksum goes along, so that damage is found however long it lies there.
  private func keepBody(
    _ number: UInt64, _ checksum: UInt64, _ transaction: inout WriteTransaction
  ) throws(StoreError) {
    guard let body = try transaction.bytes(number, in: tables.body) else { return }
    var kept: [UInt8] = []
    kept.append(integer: checksum)
    try put(kept + body, number, tables.remains, &transaction)
  }

  private static func damaged(_ number: UInt64) -> FrozenAnswer {
    .failure(NetworkError(.storeCorrupt, reason: "record \(number)"))
  }
}
