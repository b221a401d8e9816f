import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

@Suite(.measured) struct LinkReadingTests {
  @Test func `the kernel tells the same twice`() throws { #expect(LinkReading.now() == LinkReading.now()) }

  @Test(.notSanitized(.timeIsNoMeasure)) func `a look takes less than a millisecond of the loop`() throws {
    expect(work { for _ in 0..<50 { #expect(LinkReading.now() != nil) } } / 50, within: .milliseconds(1))
  }

  @Test func `a monitor on a loop knows at once and closes empty`() throws {
    let mailbox = Mailbox<Int>()
    let fixture = try LoopFixture(mailbox)
    let monitor = LinkMonitor(on: fixture.loop) { _ in }
    #expect(monitor.settled == LinkReading.now() ?? .assumed)
    #expect(monitor.current == monitor.settled)
    _ = fixture.run(until: { _ in true }) { monitor.close() }
  }

  @Test func `where no socket is to be had everything counts as routed`() async {
    await #expect(processExitsWith: .success) {
      let mailbox = Mailbox<Int>()
      let loop = try EventLoop(mailbox: mailbox)
      var limit = rlimit()
      precondition(unsafe getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0)
      var none = rlimit(rlim_cur: 0, rlim_max: limit.rlim_max)
      precondition(unsafe setrlimit(CInt(RLIMIT_NOFILE.rawValue), &none) == 0)
      precondition(LinkReading.now() == nil)
      let monitor = LinkMonitor(on: loop) { _ in }
      precondition(monitor.settled == .assumed)
      monitor.close()
      loop.stop()
      loop.run()
      precondition(loop.finish() == 0)
      // A leak checker that runs at the end wants files.
      precondition(unsafe setrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0)
    }
  }
}
