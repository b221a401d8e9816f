import Testing

@testable import NetSpool
@testable import TestSupport

/// What every caller may rely on: what was put is found, at once and later, and what was removed is not.
struct CacheStoreTests {
  private let directory: TestFolder

  init() throws { directory = try TestFolder() }

  static let sizes = [0, 1, 1_023, 1_024, 1_025, 2_047, 2_048, 4_080, 4_081, 8_176, 8_192, 100_000, 1 << 20]

  @Test(arguments: sizes)
  func `what is put is found before and after the commit and after reopening`(size: Int) throws {
    let store = try directory.open()
    let body = pattern(size, count: size)
    #expect(store.put("a", body, metadata: [1, 2, 3]))
    // Then it is found at once
    let hit = try #require(store.lookup("a"))
    #expect(hit.bytes == body && hit.metadata == [1, 2, 3])
    // And after it is written
    store.flush()
    let written = try #require(store.lookup("a"))
    #expect(written.bytes == body && written.metadata == [1, 2, 3] && written.bodyID == hit.bodyID)
    // And when the store is opened again, the first hit still held
    store.close()
    let again = try directory.open()
    #expect(again.opening.found == .whole)
    let read = try #require(again.lookup("a"))
    #expect(read.bytes == body && read.metadata == [1, 2, 3])
    #expect(again.lookup("b").isMissing)
    #expect(written.bytes == body)
  }

  /// A clock that was set back, or a process of its own, must not count on from the same number.
  @Test func `the bodies of another life of the store have other numbers`() throws {
    var ids: Set<UInt64> = []
    for life in 0..<4 {
      let store = try directory.open()
      for number in 0..<4 {
        store.write("\(life) \(number)", pattern(life * 4 + number, count: 50_000))
        ids.insert(try #require(store.lookup("\(life) \(number)")).bodyID)
      }
      for number in 0..<(life + 1) * 4 {
        #expect(store.lookup("\(number / 4) \(number % 4)")?.bytes == pattern(number, count: 50_000))
      }
      store.close()
    }
    #expect(ids.count == 16)
  }

  @Test func `what was found is found again where it stood until anything changes`() throws {
    // Given an entry that was found
    let store = try directory.open()
    try store.core.environment.write { _ in
      // Not while it waits to be written, for the writer that there is
      store.put("a", pattern(1, count: 5_000), metadata: [1])
      #expect(store.lookup("a").map { $0.place == nil } == true)
    }
    store.flush()
    // Nor does the store's thread let go of what it was found in, which has not been used for a while
    let (isKept, goesOn) = (Latch(), Latch())
    defer { goesOn.open() }
    store.core.afterCommit {
      isKept.open()
      goesOn.block()
    }
    isKept.block()
    let found = try #require(store.lookup("a"))
    // When it is asked for again, then it is there, and counts as a hit
    let hits = store.statistics.hits
    let place = try #require(found.place)
    for kept in [found.body, nil] {
      let again = try #require(store.lookup(StoreKey("a"), again: place) { kept ?? $0() })
      #expect(again.array == pattern(1, count: 5_000))
    }
    #expect(store.statistics.hits == hits + 2)
    #expect(place.copyBody(waiting: false) == pattern(1, count: 5_000))
    // And not after a commit, whatever was in it
    goesOn.open()
    store.write("b", [])
    for waiting in [false, true] { #expect(place.copyBody(waiting: waiting) == nil) }
    #expect(store.lookup(StoreKey("a"), again: place) { _ in true } == nil)
    // And not while a change of it waits
    let newPlace = try #require(store.lookup("a")?.place)
    store.remove(StoreKey("a"))
    #expect(store.lookup(StoreKey("a"), again: newPlace) { _ in true } == nil)
    #expect(found.bytes == pattern(1, count: 5_000) && found.metadata == [1], "what was found stays")
  }

  @Test func `what was found counts until this process changes it`() throws {
    // Given what was found of two resources, or not
    let store = try directory.open()
    let (ours, other) = (StoreKey("a").digest.first, StoreKey("b").digest.first)
    let changes: [() -> Void] = [
      { store.put("a", [1]) },
      { store.replaceMetadata(StoreKey("a"), metadata: [1], ifBodyIs: store.lookup("a")!.bodyID) },
      { store.remove(StoreKey("a")) }, { store.removeResource(ours) },
    ]
    // When one is changed, then what is known of it does not count any more, on the disk or not, and of the other it does
    for change in changes {
      let mark = store.mark
      #expect(!store.hasChanged(ours, since: mark))
      change()
      #expect(store.hasChanged(ours, since: mark) && !store.hasChanged(other, since: mark))
      store.flush()
      #expect(store.hasChanged(ours, since: mark) && !store.hasChanged(ours, since: store.mark))
    }
    // And of all when many are removed, and when the store is closed
    let mark = store.mark
    store.removeAll(namespace: "n")
    #expect(store.hasChanged(other, since: mark))
    store.close()
    #expect(store.hasChanged(other, since: store.mark))
  }

  @Test func `puts that follow each other share commits`() throws {
    // Given a store that has just committed
    let store = try directory.open()
    store.write("first", [1])
    let (before, began) = (store.statistics.commits, MonotonicClock.now)
    for number in 0..<200 { store.put("\(number)", pattern(number, count: 2_000)) }
    let milliseconds = Int(MonotonicClock.now - began) / 1_000
    // Then each commit but the last, which is waited for, comes five milliseconds after another
    store.flush()
    #expect(store.statistics.commits - before <= milliseconds / 5 + 2)
    #expect(store.statistics.entries == 201)
  }

  @Test(arguments: [false, true]) func `metadata of another body is not taken`(isWritten: Bool) throws {
    let store = try directory.open()
    let key = StoreKey("a")
    store.put(key, namespace: "n", metadata: [1], body: [1])
    let old = try #require(store.lookup(key)).bodyID
    store.put(key, namespace: "n", metadata: [2], body: [2])
    if isWritten { store.flush() }
    store.replaceMetadata(key, metadata: [9], ifBodyIs: old)
    #expect(store.lookup(key)?.metadata == [2])
    store.flush()
    #expect(store.lookup(key)?.metadata == [2])
    store.replaceMetadata(StoreKey("missing"), metadata: [9], ifBodyIs: old)
    #expect(store.lookup("missing").isMissing)
  }

  @Test func `what is too large is dropped and takes its predecessor along`() throws {
    let store = try directory.open { $0.bodyBytesMax = 10_000 }
    store.put("a", [1])
    #expect(!store.put("a", [UInt8](repeating: 0, count: 10_001)))
    #expect(store.lookup("a").isMissing)
    #expect(store.statistics.dropped == 1)
  }

  @Test func `opening twice gives one store`() throws {
    // Given a store, and a symlink to its directory
    let link = try TestFolder()
    try link.link("there", to: directory.path)
    let first = try directory.open()
    // When it is opened again by the other name
    let second = try CacheStore.open(CacheStoreSettings(directory: link.path + "/there"))
    // Then both see the same, before any commit
    first.put("a", [1])
    #expect(second.lookup("a")?.bytes == [1])
    // And one may close without the other
    first.close()
    #expect(first.lookup("a").isMissing)
    #expect(second.lookup("a")?.bytes == [1])
    second.close()
    second.close()
    #expect(try directory.open().lookup("a")?.bytes == [1])
  }

  @Test func `what is put faster than it is written is dropped and counted`() throws {
    let store = try directory.open { settings in settings.pendingBytesMax = 4 << 20 }
    // Given more than the store takes at once
    let body = pattern(1, count: 1 << 20)
    let isAccepted = (0..<200).map { store.put("\($0)", body) }
    // Then what was accepted is there, and the rest counted
    store.flush()
    #expect(store.statistics.pendingBytes == 0)
    #expect(store.statistics.dropped == isAccepted.filter { !$0 }.count)
    let found = (0..<200).map { !store.lookup("\($0)").isMissing }
    #expect(zip(found, isAccepted).allSatisfy { !$0 || $1 })
  }

  /// Of two processes that have changed a resource, the one that was first may be the last to write so.
  @Test func `the youngest change counts, whichever is written last`() throws {
    let store = try TestFolder().open()
    var writer = CacheWriter(store.core)
    let now = MonotonicClock.now
    _ = try writer.inTransaction { writer, transaction throws(StoreError) in
      try writer.fence(7, at: now - 100, &transaction)
      try writer.fence(7, at: now - 300, &transaction)
      #expect(try writer.holdsBack(7, askedAt: now - 200, transaction))
      #expect(try !writer.holdsBack(7, askedAt: now - 50, transaction))
      #expect(try !writer.holdsBack(8, askedAt: now - 200, transaction))
      // What was noted before the machine was started says nothing
      try writer.fence(9, at: now + 1_000_000_000, &transaction)
      try writer.fence(9, at: now - 100, &transaction)
      #expect(try writer.holdsBack(9, askedAt: now - 200, transaction))
      #expect(try !writer.holdsBack(9, askedAt: now - 50, transaction))
    }
  }

  /// What another process has changed since it was asked for, also while it waits to be written here.
  @Test func `what waits to be written is as old as what it was asked for`() throws {
    let store = try TestFolder().open()
    var writer = CacheWriter(store.core)
    let (old, young, now) = (StoreKey("old"), StoreKey("young"), MonotonicClock.now)
    _ = try writer.inTransaction { writer, transaction throws(StoreError) in
      for key in [old, young] { try writer.fence(key.digest.first, at: now - 200, &transaction) }
    }
    // Nothing else is written in the meantime
    _ = try writer.inTransaction { _, _ throws(StoreError) in
      store.put(old, namespace: "n", metadata: [], body: [1], askedAt: now - 300)
      store.put(young, namespace: "n", metadata: [], body: [1], askedAt: now - 100)
      #expect(store.lookup(old).isMissing && !store.lookup(young).isMissing)
    }
    store.flush()
    #expect(store.lookup(old).isMissing && !store.lookup(young).isMissing)
  }
}
