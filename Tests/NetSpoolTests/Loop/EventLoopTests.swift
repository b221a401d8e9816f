import Glibc
import Testing

@testable import NetSpool

/// Loops that run on the test's own thread and are proven to close empty.
struct EventLoopTests {
  @Test func `messages arrive in order, those that were sent before the loop existed too`() throws {
    let mailbox = Mailbox<Int>()
    for message in 0...2 { mailbox.send(message) }
    let fixture = try LoopFixture(mailbox)
    mailbox.send(3)
    let seen = fixture.run(until: { $0.count == 4 })
    #expect(seen == [0, 1, 2, 3])
    #expect(fixture.turns == 1)
  }

  @Test func `a thousand messages of many threads come in few turns, none lost`() throws {
    let mailbox = Mailbox<Int>()
    let fixture = try LoopFixture(mailbox)
    let senders = try (0..<4).map { sender in
      try SystemThread.start(name: "sender") {
        for number in 0..<5_000 { mailbox.send(sender * 5_000 + number) }
      }
    }
    let seen = fixture.run(until: { $0.count == 20_000 })
    for thread in senders { thread.join() }
    #expect(Set(seen).count == 20_000)
    for sender in 0..<4 {
      let own = seen.filter { $0 / 5_000 == sender }
      #expect(own == own.sorted(), "in the order of its sender")
    }
    #expect(fixture.turns < 20_000)
  }

  @Test func `a closed mailbox takes nothing and hands back what had come`() throws {
    let mailbox = Mailbox<Int>()
    let loop = try EventLoop(mailbox: mailbox)
    mailbox.send(1)
    #expect(mailbox.close() == [1])
    #expect(!mailbox.send(2))
    #expect(!mailbox.send(3))
    loop.stop()
    loop.run()
    #expect(loop.finish() == 0)
  }

  @Test func `a handle that is left open is counted`() throws {
    let loop = try EventLoop(mailbox: Mailbox<Int>())
    let timer = LoopTimer(on: loop) {}
    loop.stop()
    loop.run()
    #expect(loop.finish() == 1)
    timer.close()
    #expect(loop.finish() == 0)
  }

  @Test func `calling from another thread traps with a sentence`() async {
    let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
      let loop = try EventLoop(mailbox: Mailbox<Int>())
      // Safe because the check under test is all that the other thread does.
      nonisolated(unsafe) let shared = loop
      try SystemThread.start(name: "other") { unsafe shared.assertOnLoop() }.join()
    }
    let said = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    #expect(said.contains("belongs to the loop thread; send a command instead"))
  }

  // MARK: Timers

  @Test func `timers fire in their order, the repeating one again, a stopped one never`() throws {
    let fixture = try LoopFixture(Mailbox<Int>())
    var fired: [String] = []
    let later = LoopTimer(on: fixture.loop) { fired.append("later") }
    let sooner = LoopTimer(on: fixture.loop) { fired.append("sooner") }
    let stopped = LoopTimer(on: fixture.loop) { fired.append("stopped") }
    var repeats = 0
    let repeating = LoopTimer(on: fixture.loop) { repeats += 1 }
    later.start(milliseconds: 30)
    sooner.start(milliseconds: 1)
    stopped.start(milliseconds: 2)
    stopped.stop()
    repeating.start(milliseconds: 1, repeating: 1)
    _ = fixture.run(until: { _ in fired.count == 2 && repeats > 1 }) {
      for timer in [later, sooner, stopped, repeating] { timer.close() }
    }
    #expect(fired == ["sooner", "later"])
  }

  @Test func `a table of timers takes none after it has closed, and closes with its loop`() throws {
    let fixture = try LoopFixture(Mailbox<Int>())
    let table = TimerTable(loop: fixture.loop)
    table.onFire = { [unowned loop = fixture.loop] in loop.markDirty() }
    var fired: [Int] = []
    let cancelled = table.after(milliseconds: 1) { fired.append(1) }
    table.after(milliseconds: 5) { fired.append(2) }
    table.after(milliseconds: 600_000) { fired.append(3) }
    table.cancel(cancelled)
    _ = fixture.run(until: { _ in !table.runPiece() && !fired.isEmpty }) {
      table.close()
      table.after(milliseconds: 0) { fired.append(4) }
    }
    #expect(fired == [2])
  }

  // MARK: Sockets

  @Test func `a socket that waits for its turn when the loop ends does not keep the loop`() throws {
    weak var loop: EventLoop?
    do {
      let fixture = try LoopFixture(Mailbox<Int>())
      loop = fixture.loop
      let pipe = try RawPipe()
      let watch = try #require(SocketWatch(on: fixture.loop, descriptor: pipe.readEnd) { _ in 0 })
      watch.want(.readable)
      _ = fixture.run(until: { _ in true }) {
        fixture.loop.serveLater(watch, .readable)
        watch.close()
      }
    }
    #expect(loop == nil)
  }

  @Test func `a watch fires while it is wanted, and stays armed for the next time`() throws {
    let fixture = try LoopFixture(Mailbox<Int>())
    let pipe = try RawPipe()
    var seen: [UInt8] = []
    var idles = 0
    var watch: SocketWatch?
    watch = SocketWatch(
      on: fixture.loop, descriptor: pipe.readEnd,
      onIdleEvent: {
        // Then: seen once, not taken, and not asked for again until it is wanted.
        idles += 1
        #expect(seen == [1])
        watch?.want(.readable)
      }
    ) { events in
      #expect(events.contains(.readable))
      seen += pipe.take(100) ?? []
      guard seen == [1] else { return 0 }
      // When nobody wants anything and something comes
      watch?.want([])
      pipe.put([2])
      return 0
    }
    try #require(watch != nil)
    watch?.want(.readable)
    pipe.put([1])
    _ = fixture.run(until: { _ in seen.count == 2 }) { watch?.close() }
    watch = nil  // its closures hold it
    #expect(seen == [1, 2])
    #expect(idles == 1)
  }

  @Test func `commands do not wait for all sockets that one wake-up found`() throws {
    // Given sockets that are all ready, and each takes long
    let mailbox = Mailbox<Int>()
    let fixture = try LoopFixture(mailbox)
    let pipes = try (0..<4).map { _ in try RawPipe() }
    var turnsBefore: [Int] = []
    var watches: [SocketWatch] = []
    for (index, pipe) in pipes.enumerated() {
      let watch = try #require(
        SocketWatch(on: fixture.loop, descriptor: pipe.readEnd) { _ in
          turnsBefore.append(fixture.turns)
          _ = pipe.take(100)
          mailbox.send(index)
          return fixture.serveSlowly()
        })
      watch.want(.readable)
      pipe.put([1])
      watches.append(watch)
    }
    // When the loop finds them
    let seen = fixture.run(until: { $0.count == 4 }) { for watch in watches { watch.close() } }
    watches = []
    // Then what came meanwhile was taken before the next one
    #expect(seen.count == 4)
    #expect(Set(turnsBefore).count == 4, "\(turnsBefore)")
  }

  @Test
  func `a socket that takes next to nothing waits for one of those that take long, and they take turns`()
    throws
  {
    // Given sockets that are always ready and take long, and one that takes next to nothing
    let fixture = try LoopFixture(Mailbox<Int>())
    let slow = try (0..<5).map { _ in try RawPipe() }
    let quick = try RawPipe()
    var log: [Int] = []
    var watches = try slow.enumerated().map { index, pipe in
      pipe.put([1])
      return try #require(
        SocketWatch(on: fixture.loop, descriptor: pipe.readEnd) { _ in
          log.append(index)
          return fixture.serveSlowly()
        })
    }
    watches.append(
      try #require(
        SocketWatch(on: fixture.loop, descriptor: quick.readEnd) { _ in
          log.append(-1)
          _ = quick.take(1)
          quick.put([1])
          fixture.loop.markDirty()
          return 0
        }))
    quick.put([1])
    // When all are ready all the time
    for watch in watches { watch.want(.readable) }
    _ = fixture.run(until: { _ in log.count >= 44 }) { for watch in watches { watch.close() } }
    watches = []
    // Then, once it is known, it is served between any two of them
    let known = log.drop { $0 != -1 }.dropFirst().drop { $0 != -1 }
    #expect(zip(known, known.dropFirst()).allSatisfy { $0 == -1 || $1 == -1 }, "\(log)")
    // And each of them has its turns: four each, if all took the same
    #expect((0..<5).allSatisfy { slow in log.count { $0 == slow } >= 2 }, "\(log)")
  }

  @Test func `what cannot be polled is refused and leaves no handle`() throws {
    let fixture = try LoopFixture(Mailbox<Int>())
    let file = unsafe open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    #expect(SocketWatch(on: fixture.loop, descriptor: file) { _ in 0 } == nil)
    _ = fixture.run(until: { _ in true })
  }
}
