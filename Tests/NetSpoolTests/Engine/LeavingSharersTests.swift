import Glibc
import NetSpoolTesting
import Synchronization
import Testing

@testable import NetSpool
@testable import TestSupport

/// Equal requests share one exchange. Whatever one of them does, and wherever its body goes, the others get all bytes and
/// their end.
struct LeavingSharersTests {
  enum Leaving: String, CaseIterable, Sendable { case cancel, tag, total, reader, failure, shutDown, pause }

  enum Place: CaseIterable {
    /// The one that leaves has the exchange for all.
    case first
    case second
    /// It and another came in the middle of the body.
    case late
    /// It has the exchange, and another came in the middle of the body.
    case firstOfLate

    var spools: Bool { self == .late || self == .firstOfLate }
  }

  enum Kind: CaseIterable { case file, stream, descriptor, memory }

  static let count = 3 << 20
  static let held = 1 << 20
  static let body = BodyPattern.bytes(count)

  @Test(arguments: Leaving.allCases, [1, 4])
  func `a sharer that leaves takes neither bytes nor their end from the others`(leaving: Leaving, loops: Int)
    async throws
  {
    let folder = try TestFolder(in: TestFiles.fast)
    try await withQueue({ $0.loops = .fixed(loops) }) { queue in
      for place in Place.allCases {
        for (leaver, stayer) in pairs(leaving, loops: loops) {
          let row = "\(leaving) \(place) \(leaver) \(stayer)"
          let sharing = try Sharing(on: queue, folder, spools: place.spools)
          try await sharing.live(leaving, place, leaver, stayer, row)
        }
      }
    }
  }

  // MARK: Without progress

  @Test(arguments: StuckSink.Kind.allCases)
  func `a sink that stands still ends its operation by name, and the sharer of the exchange gets all`(
    kind: StuckSink.Kind
  ) async throws {
    let said = Journal<String>()
    try await withEngine { engine, origin in
      origin.on("/a", .pattern(Self.count))
      engine.driver.logs.withLock { $0[engine.id] = { said.add($0) } }
      let (stuck, other) = (engine.operation(path: "/a"), engine.operation(path: "/a"))
      stuck.attach(StreamAttachment(isEssential: true, close: { _ in }) { _ in StuckSink(kind) })
      stuck.configure { $0.timeouts = engine.limits { $0.stall = .seconds(1) } }
      let stream = PatternStream()
      other.addDownloadStream(stream)
      async let ends = (stuck.end(), other.end())
      await engine.share("/a", at: origin, [stuck, other])
      let (left, whole) = await ends
      #expect(left.code == .timedOut && left.reason == "stalled: sink, stream 0")
      #expect(whole.response?.status == 200 && stream.isWhole(Self.count))
      #expect(said.entries.contains("stalled: sink, stream 0 of http://127.0.0.1:\(origin.port)"))
    }
  }

  @Test(arguments: [1, 4])
  func `a sharer does not wait for another's reader beyond its own stall limit`(loops: Int) async throws {
    try await withEngine(queue: { $0.loops = .fixed(loops) }) { engine, origin in
      origin.on("/a", .pattern(Self.count))
      let (slow, other) = (engine.operation(path: "/a"), engine.operation(path: "/a"))
      let door = Flag()
      let streams = [PatternStream(while: door), PatternStream()]
      slow.addDownloadStream(streams[0])
      other.addDownloadStream(streams[1])
      other.configure { $0.timeouts = engine.limits { $0.stall = .seconds(1) } }
      async let end = slow.end()
      await engine.share("/a", at: origin, [slow, other])
      let ending = await other.end()
      #expect(ending.code == .timedOut && ending.reason == "stalled: sink, another's stream")
      #expect(streams[1].closings == ["timedOut"])
      // The reader itself has all the time in the world
      door.set()
      #expect(await end.response?.status == 200 && streams[0].isWhole(Self.count))
    }
  }

  @Test func `the limit for a reader holds for a body from the cache as well`() async throws {
    try await withCache { engine, origin, _ in
      origin.on("/a", Answer.pattern(Self.count).header("Cache-Control", "max-age=100"))
      #expect(await engine.end(of: engine.operation(path: "/a")).response?.status == 200)
      let operation = engine.operation(path: "/a").addDownloadStream(PatternStream(while: Flag()))
      operation.configure { $0.timeouts = engine.limits { $0.reader = .milliseconds(200) } }
      let ending = await engine.end(of: operation)
      #expect(ending.code == .timedOut && ending.reason == "reader" && origin.requestCount == 1)
      #expect(await until { engine.budgets.streams.held == 0 })
    }
  }

  /// A reader that takes nothing is a stream; one without streams cannot fail.
  private func pairs(_ leaving: Leaving, loops: Int) -> [(Kind, Kind)] {
    let leavers: [Kind] =
      switch leaving {
      case .reader: [.stream]
      case .failure: [.file, .stream, .descriptor]
      default: Kind.allCases
      }
    if loops > 1 { return leavers.map { ($0, .stream) } }
    let stayers = [Kind.file, .stream, .memory]
    if LongRun.isOn || leavers.count == 1 {
      return leavers.flatMap { leaver in stayers.map { (leaver, $0) } }
    }
    // Each kind of both, if not each pair.
    return leavers.enumerated().map { ($1, stayers[$0 % stayers.count]) }
  }
}

/// One row: three equal requests, one of which leaves.
private struct Sharing {
  private let engine: NetworkEngine
  private let origin: ScriptedOrigin
  private let folder: TestFolder
  private let witness = PatternStream()

  init(on queue: NetworkQueue, _ folder: TestFolder, spools: Bool) throws {
    self.folder = folder
    origin = try ScriptedOrigin()
    engine = try NetworkEngine(to: origin, on: queue)
    if spools { try engine.useCache(.patient(folder["cache"])) }
  }

  func live(
    _ leaving: LeavingSharersTests.Leaving, _ place: LeavingSharersTests.Place,
    _ leaverKind: LeavingSharersTests.Kind, _ stayerKind: LeavingSharersTests.Kind, _ row: String
  ) async throws {
    let held = LeavingSharersTests.held
    let answer = Answer.pattern(LeavingSharersTests.count).header("Cache-Control", "max-age=100")
    origin.on("/a", answer.fault(.gate("middle"), at: .body(held)))
    let leaver = try Sharer(engine, leaverKind, folder["leaver"], leaving)
    let stayer = try Sharer(engine, stayerKind, folder["stayer"])
    let watched = engine.operation(path: "/a").addDownloadStream(witness)
    let early = [
      .first: [leaver.operation, stayer.operation, watched],
      .second: [stayer.operation, leaver.operation, watched], .late: [watched],
      .firstOfLate: [leaver.operation, watched],
    ][place]!
    async let ends = (leaver.operation.end(), stayer.operation.end(), watched.end())
    await engine.share("/a", at: origin, early)
    // A reader that takes nothing holds up those who share its exchange, until its limit.
    if leaving != .reader { #expect(await until { witness.count == held }, "\(row)") }
    if place == .late { engine.enqueue(leaver.operation) }
    if place.spools { engine.enqueue(stayer.operation) }
    await engine.settle()
    await leave(leaver.operation, leaving)
    origin.release("middle")
    if leaving == .pause {
      // They end while it is paused, and it when it goes on.
      #expect(await until { stayer.operation.state == .finished && watched.state == .finished }, "\(row)")
      leaver.operation.resume()
    }
    let (left, stayed, seen) = await ends
    switch leaving {
    case .cancel, .tag: #expect(left.code == .cancelled, "\(row)")
    case .total, .reader: #expect(left.code == .timedOut, "\(row)")
    case .failure: #expect(left.code == .sinkFailed, "\(row)")
    case .shutDown:
      #expect([left, stayed, seen].allSatisfy { $0.code == .engineClosed }, "\(row)")
      return
    case .pause: #expect(left.response?.status == 200, "\(row)")
    }
    #expect(stayed.response?.status == 200 && seen.response?.status == 200, "\(row)")
    #expect(try stayer.isWhole(stayed), "\(row)")
    #expect(witness.isWhole(LeavingSharersTests.count), "\(row)")
    #expect(await until { engine.budgets.streams.held == 0 }, "\(row)")
  }

  private func leave(_ operation: NetworkOperation, _ leaving: LeavingSharersTests.Leaving) async {
    switch leaving {
    case .cancel: operation.cancel()
    case .tag: engine.cancel(tag: "leaver")
    case .pause: operation.pause()
    case .shutDown: await engine.shutDown(deadline: .zero)
    case .total, .reader: _ = await until { operation.state == .finished }
    case .failure: break  // with the first byte
    }
  }
}

private struct Sharer {
  let operation: NetworkOperation
  private let kind: LeavingSharersTests.Kind
  private let path: String
  private let stream = PatternStream()
  private let device: TestDescriptor

  init(
    _ engine: NetworkEngine, _ kind: LeavingSharersTests.Kind, _ path: String,
    _ leaving: LeavingSharersTests.Leaving? = nil
  ) throws {
    (operation, self.kind, self.path) = (engine.operation(path: "/a"), kind, path)
    let name = leaving == .failure ? "/dev/full" : "/dev/null"
    device = try TestDescriptor(owning: unsafe open(name, O_WRONLY | O_CLOEXEC), from: name)
    addStream(leaving)
    if let leaving { setLimits(leaving) }
  }

  private func setLimits(_ leaving: LeavingSharersTests.Leaving) {
    operation.tag = "leaver"
    let limits = operation.engine.limits { limits in
      switch leaving {
      case .total: limits.total = .milliseconds(150)
      case .reader: limits.reader = .milliseconds(150)
      default: break
      }
    }
    operation.configure { $0.timeouts = limits }
  }

  private func addStream(_ leaving: LeavingSharersTests.Leaving?) {
    let fails = leaving == .failure
    switch kind {
    case .file: operation.addDownloadStream(FileDownloadStream(path: fails ? path + "/none/a" : path))
    case .stream where leaving == .reader: operation.addDownloadStream(PatternStream(while: Flag()))
    case .stream where fails:
      operation.addDownloadStream(ClosureDownloadStream { _ in throw PartFailure("full") })
    case .stream: operation.addDownloadStream(stream)
    case .descriptor: operation.addDownloadStream(DescriptorDownloadStream(device.number))
    case .memory: break
    }
  }

  func isWhole(_ ending: Ending) throws -> Bool {
    switch kind {
    case .file: try TestFiles.read(path) == LeavingSharersTests.body
    case .stream: stream.isWhole(LeavingSharersTests.count)
    case .descriptor: ending.response?.streams.map(\.bytes) == [Int64(LeavingSharersTests.count)]
    case .memory: [UInt8](ending.response?.body ?? .empty) == LeavingSharersTests.body
    }
  }
}

extension NetworkEngine {
  /// Its own limits, changed.
  fileprivate func limits(_ change: (inout NetworkRequest.Timeouts) -> Void) -> NetworkRequest.Timeouts {
    var limits = configuration.timeouts
    change(&limits)
    return limits
  }
}

/// Plays a disk that hangs: it stands still for ever in the middle or at its end.
final class StuckSink: Sink {
  enum Kind: CaseIterable, Sendable { case middle, publishing }

  private let kind: Kind
  let report = NetworkResponse.StreamReport()
  var waitsForReader: Bool { false }

  init(_ kind: Kind) { self.kind = kind }

  func open(_ head: ResponseHead, bytesExpected: Int64?, ready: @escaping () -> Void) {}
  func write(_ bytes: RawSpan) -> Int { kind == .middle ? 0 : bytes.byteCount }
  func finish(_ failure: NetworkError?) -> SinkProgress { .pending }
}
