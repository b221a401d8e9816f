import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

@Suite("Progress of a download")
struct ProgressTests {
  @Test func `grows and ends with all`() async throws {
    try await withWire { wire in
      // Given a body that comes in three pieces, each when the one before was reported
      wire.origin.on(
        "/a", .pattern(3_000).fault(.gate("one"), at: .body(1_000)).fault(.gate("two"), at: .body(2_000)))
      let seen = Journal<TransferProgress>()
      let operation = wire.operation("/a").onDownloadProgress { progress in
        seen.add(progress)
        if progress.done == 1_000 { wire.origin.release("one") }
        if progress.done == 2_000 { wire.origin.release("two") }
      }
      // When it is downloaded
      _ = try await wire.answer(operation)
      // Then each piece was reported, and the end once
      #expect(seen.entries.map(\.done) == [1_000, 2_000, 3_000])
      #expect(seen.entries.allSatisfy { $0.total == 3_000 && $0.bytesPerSecond > 0 })
      #expect(seen.entries.last?.fraction == 1)
    }
  }

  @Test(arguments: [true, false])
  func `never goes back when an attempt is repeated`(isUpload: Bool) async throws {
    try await withWire({ $0.retry = .standard }) { wire in
      // Given an attempt that ends when 2,000 bytes were reported, and one that rests at 1,000
      let body = BodyPattern.bytes(3_000_000)
      if isUpload {
        wire.origin.enqueue(.status(503).header("Retry-After", "0"), for: "/a")
        wire.origin.on("/a", .text("done"))
      } else {
        let cutOff = Answer.pattern(3_000).fault(.gate("first"), at: .body(2_000)).closeAfter(2_500)
        wire.origin.enqueue(cutOff, for: "/a")
        wire.origin.on("/a", .pattern(3_000).fault(.pause(.milliseconds(300)), at: .body(1_000)))
      }
      let (seen, sent) = (Journal<Int64>(), Journal<Int64>())
      let operation = wire.operation("/a", isUpload ? .put : .get).onDownloadProgress { progress in
        seen.add(progress.done)
        if progress.done == 2_000 { wire.origin.release("first") }
      }.onUploadProgress { sent.add($0.done) }
      if isUpload { operation.setBody(.bytes(body)) }
      // When it is repeated
      let answer = try await wire.answer(operation)
      // Then what was told only grows
      #expect(answer.metrics.attempts == 2)
      let all = isUpload ? sent.entries : seen.entries
      #expect(all == all.sorted() && all.last == (isUpload ? 3_000_000 : 3_000), "\(all)")
    }
  }

  @Test func `says nothing of a total it does not know`() async throws {
    try await withWire { wire in
      wire.origin.on(
        "/a", Answer.pattern(2_000).framed(.chunked(size: 1_000)).fault(.gate("g"), at: .body(1_010)))
      let seen = Journal<TransferProgress>()
      let operation = wire.operation("/a").onDownloadProgress { progress in
        seen.add(progress)
        wire.origin.release("g")
      }
      _ = try await wire.answer(operation)
      #expect(seen.entries.first?.total == nil && seen.entries.first?.fraction == nil)
      #expect(seen.entries.last?.done == 2_000 && seen.entries.last?.fraction == 1)
    }
  }

  @Test func `comes once for an empty body`() async throws {
    try await withWire { wire in
      wire.origin.on("/a", .status(204))
      let seen = Journal<TransferProgress>()
      _ = try await wire.answer(wire.operation("/a").onDownloadProgress { seen.add($0) })
      #expect(seen.entries.map(\.done) == [0] && seen.entries.last?.fraction == 1)
    }
  }

  @Test func `comes at most ten times a second`() async throws {
    try await withWire { wire in
      wire.origin.on(
        "/a", .pattern(200_000).paced(.slices(of: 2_000, every: .milliseconds(5)), bodyOnly: true))
      let seen = Journal<TransferProgress>()
      let start = ContinuousClock.now
      _ = try await wire.answer(wire.operation("/a").onDownloadProgress { seen.add($0) })
      let seconds = (ContinuousClock.now - start) / .seconds(1)
      #expect(Double(seen.entries.count) <= seconds * 10 + 2)
      #expect(seen.entries.map(\.done) == seen.entries.map(\.done).sorted())
    }
  }

  @Test func `counts only the body that is answered`() async throws {
    try await withWire { wire in
      // Given a redirect with a long body of its own
      let redirect = Answer(status: 302, headers: ["Location": "/b"], body: .pattern(count: 9_000))
      wire.origin.on("/a", redirect.fault(.pause(.milliseconds(250)), at: .body(8_000)))
      wire.origin.on("/b", .text("hello"))
      let seen = Journal<TransferProgress>()
      _ = try await wire.answer(wire.operation("/a").onDownloadProgress { seen.add($0) })
      #expect(seen.entries.map(\.done) == [5])
    }
  }
}
