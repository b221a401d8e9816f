import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

/// The layer below the cache store, which other stores share.
struct StoreEnvironmentTests {
  private let directory: TestFolder

  init() throws { directory = try TestFolder(in: TestFiles.fast) }

  private func open(
    _ directory: TestFolder, layout: UInt32 = 1, isDisposable: Bool = false, isExclusive: Bool = false
  ) throws -> Environment {
    try Environment.open(
      EnvironmentSettings(
        directory: directory.path, layout: layout, isDisposable: isDisposable, isExclusive: isExclusive,
        mapBytes: 1 << 30))
  }

  private func put(_ number: UInt64, _ bytes: [UInt8], in environment: Environment) throws {
    try environment.write { transaction throws(StoreError) in
      let records = try transaction.database("records", keys: .integers)
      try transaction.put(bytes.rawBytes, at: RecordKey(integer: number), in: records)
    }
  }

  private func all(in environment: Environment) throws -> [[UInt8]] {
    let records = try environment.write { transaction throws(StoreError) in
      try transaction.database("records", keys: .integers)
    }
    var found: [[UInt8]] = []
    try environment.read().forEach(in: records) { record in
      found.append([UInt8](record.value))
      return true
    }
    return found
  }

  private func first(_ bytes: RawSpan?) -> UInt8? {
    guard let bytes else { return nil }
    return bytes.byte(at: 0)
  }

  @Test(arguments: [false, true])
  func `what is committed stays and what throws does not`(isDisposable: Bool) throws {
    var environment = try open(directory, isDisposable: isDisposable)
    try put(2, [2], in: environment)
    try put(1, [1, 1], in: environment)
    // When a transaction throws after it has changed something
    #expect(throws: StoreError.self) {
      try environment.write { transaction throws(StoreError) in
        let records = try transaction.database("records", keys: .integers)
        try transaction.removeAll(in: records)
        throw StoreError(number: 1)
      }
    }
    // Then nothing of it remains, now and later
    #expect(try all(in: environment) == [[1, 1], [2]])
    environment.drop()
    environment = try open(directory, isDisposable: isDisposable)
    #expect(try all(in: environment) == [[1, 1], [2]])
    environment.drop()
  }

  /// Pages that a transaction takes and lets go are never written, yet the commit counts them.
  @Test(arguments: [false, true])
  func `a file is as long as its newest commit says`(isDisposable: Bool) throws {
    var environment = try open(directory, isDisposable: isDisposable)
    try put(1, [1], in: environment)
    // When the last pages of a commit are free ones
    let body = pattern(2, count: 100_000)
    for count in 1..<6 as Range<UInt64> {
      try environment.write { transaction throws(StoreError) in
        let records = try transaction.database("records", keys: .integers)
        for number in 2..<10 * count {
          _ = try transaction.putLarge(body, [], [], at: RecordKey(integer: number), in: records)
        }
        for number in 2..<10 * count { try transaction.remove(at: RecordKey(integer: number), in: records) }
      }
      // Then no reader takes it for one that was cut off
      #expect(environment.isFileWhole)
    }
    let bytes = environment.fileBytes
    #expect(bytes > 4_000_000)
    environment.drop()
    // Nor the next opening, even of one whose process ended right behind the commit
    let file = try FileDescriptor(opening: directory["data.mdb"], flags: O_RDWR)
    try file.truncate(to: Int64(bytes - 100_000))
    environment = try open(directory, isDisposable: isDisposable)
    #expect(environment.opening.found == .whole && environment.isFileWhole)
    #expect(try all(in: environment) == [[1]])
    environment.drop()
  }

  @Test func `a reader sees what was there when it began`() throws {
    let environment = try open(directory)
    defer { environment.drop() }
    try put(1, [1], in: environment)
    let records = try environment.write { transaction throws(StoreError) in
      try transaction.database("records", keys: .integers)
    }
    let reader = try environment.read()
    try put(1, [2], in: environment)
    let before = try first(reader.value(at: RecordKey(integer: 1), in: records))
    let after = try environment.read()
    let now = try first(after.value(at: RecordKey(integer: 1), in: records))
    #expect(before == 1 && now == 2)
  }

  @Test func `an environment wanted alone is refused to others`() async throws {
    let environment = try open(directory, isExclusive: true)
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      for isExclusive in [false, true] {
        do throws(NetworkError) {
          _ = try Environment.open(
            EnvironmentSettings(
              directory: path, layout: 1, isDisposable: false, isExclusive: isExclusive, mapBytes: 1 << 30))
          preconditionFailure("opened twice")
        } catch { precondition(error.code == .storeInUse && UInt32(error.reason ?? "") != nil) }
      }
    }
    environment.drop()
  }

  @Test func `another layout is no place to join`() throws {
    let first = try open(directory)
    #expect(throws: NetworkError.self) { try open(directory, layout: 2) }
    first.drop()
  }
}
