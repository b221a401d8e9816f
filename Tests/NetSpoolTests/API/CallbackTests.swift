import NetSpool
import NetSpoolTesting
import Testing

@testable import TestSupport

/// What closures may do: everything.
struct CallbackTests {
  /// Where user code runs.
  enum Place: CaseIterable, Sendable {
    case queued, executing, finished, upload, download, completion, error, late, streamRead, streamOpen
    case streamWrite, streamClose, prepare, validate
  }

  enum Delivery: CaseIterable, Sendable { case serial, loop }

  enum Act: CaseIterable, Sendable { case cancel, cancelAll, pauseAndResume, shutDown }

  @Test(arguments: Place.allCases, Act.allCases)
  func `an act that ends or stops inside any closure leaves one ending each`(place: Place, act: Act)
    async throws
  {
    for delivery in Delivery.allCases {
      try await runs(place, delivery) { operation, engine in
        switch act {
        case .cancel: operation.cancel()
        case .cancelAll: engine.cancelAll()
        case .pauseAndResume:
          operation.pause()
          operation.resume()
        case .shutDown: engine.shutDownAndWait(deadline: .seconds(0))
        }
      }
    }
  }

  @Test(arguments: Place.allCases, Delivery.allCases)
  func `enqueueing inside any closure is accepted and runs`(place: Place, delivery: Delivery) async throws {
    let more = Tally()
    try await runs(place, delivery) { _, engine in more.start(engine.operation(path: "/more")) }
    #expect(more.ended >= 1)
    #expect(more.count("completed") == more.ended)
  }

  /// One operation that goes through all the places, three others under way, and an action at one place.
  private func runs(
    _ place: Place, _ delivery: Delivery,
    _ action: @escaping @Sendable (NetworkOperation, NetworkEngine) -> Void
  ) async throws {
    let subject = Subject(place, action)
    try await withEngine(
      { configuration in
        if delivery == .loop { configuration.delivery = .loopThread }
        configuration.prepare = { _ in subject.passes(.prepare) }
        configuration.validate = { response in
          subject.passes(.validate)
          if response.status >= 400 { throw NetworkError(code: .status) }
        }
      }, queue: { $0.sizing = .fixed(2) }
    ) { engine, origin in
      origin.on("/subject", place == .error ? .status(500) : .pattern(100_000))
      origin.on(prefix: "/other", .text("other").delay(.milliseconds(5)))
      origin.on("/more", .text("more"))
      let tally = Tally()
      let operation = engine.operation(path: "/subject", method: .post)
        .setBody(.bytes(BodyPattern.bytes(100_000)))
      if place == .streamRead {
        let pieces = [UploadChunk](repeating: .bytes(BodyPattern.bytes(10_000)), count: 10)
        operation.setUploadStream(
          ScriptedUpload(pieces, length: 100_000) { subject.passes(.streamRead) })
      }
      let others = (0..<3).map { engine.operation(path: "/other\($0)") }
      subject.follow(operation, engine)
      for one in [operation] + others { tally.start(one) }
      await tally.wait(for: 4)
      if place == .late { operation.onCompletion { _ in subject.passes(.late) } }
      _ = await operation.end()  // behind the late one
      #expect(tally.isOneEach && tally.ended == 4, "delivered by \(delivery)")
      if delivery == .serial { engine.shutDownAndWait(deadline: .seconds(5)) }
      _ = engine.configuration.queue.drainAndWait(deadline: .seconds(5))
      subject.forget()
    }
  }
}

/// The operation that the closures act on, and the action, done once.
private final class Subject: Sendable {
  private let place: CallbackTests.Place
  private let action: @Sendable (NetworkOperation, NetworkEngine) -> Void
  private let parties = Journal<(NetworkOperation, NetworkEngine)>()
  private let done = Journal<Void>()

  init(
    _ place: CallbackTests.Place, _ action: @escaping @Sendable (NetworkOperation, NetworkEngine) -> Void
  ) {
    self.place = place
    self.action = action
  }

  func forget() { parties.removeAll() }

  func passes(_ here: CallbackTests.Place) {
    guard here == place, done.count == 0, let (operation, engine) = parties.entries.first else { return }
    done.add(())
    action(operation, engine)
  }

  func follow(_ operation: NetworkOperation, _ engine: NetworkEngine) {
    parties.add((operation, engine))
    operation.onStateChange { [self] state in
      switch state {
      case .queued: passes(.queued)
      case .executing: passes(.executing)
      case .finished, .cancelled: passes(.finished)
      default: break
      }
    }
    operation.onUploadProgress { [self] _ in passes(.upload) }
    operation.onDownloadProgress { [self] _ in passes(.download) }
    operation.onCompletion { [self] _ in passes(.completion) }
    operation.onError { [self] _ in passes(.error) }
    operation.addDownloadStream(PassingStream(self))
  }
}

private final class PassingStream: DownloadStream {
  private let subject: Subject
  init(_ subject: Subject) { self.subject = subject }
  func open(_ head: ResponseHead, bytesExpected: Int64?) { subject.passes(.streamOpen) }
  func write(_ bytes: RawSpan) -> WriteResult {
    subject.passes(.streamWrite)
    return .accepted
  }
  func close(_ outcome: Result<Void, NetworkError>) { subject.passes(.streamClose) }
}
