extension ReadTransaction {
  /// A copy of the value at a key, nil when there is none.
  func bytes(at key: RecordKey, in database: Database) throws(StoreError) -> [UInt8]? {
    guard let value = try value(at: key, in: database) else { return nil }
    return [UInt8](value)
  }
}

extension WriteTransaction {
  /// A copy of the value at a key, nil when there is none.
  func bytes(at key: RecordKey, in database: Database) throws(StoreError) -> [UInt8]? {
    guard let value = try value(at: key, in: database) else { return nil }
    return [UInt8](value)
  }

  func bytes(_ number: UInt64, in database: Database) throws(StoreError) -> [UInt8]? {
    try bytes(at: RecordKey(ordered: number), in: database)
  }
}
