import ArgumentParser
import Glibc
import NetSpool
import NetSpoolTesting
import Synchronization

/// The same list again, which the cache answers, and a form that cannot be sent now.
extension DemoRun {
  func fetchFromTheCache() throws {
    talk.heading("2. The same list again: what is fresh comes from the cache")
    let (requests, begin) = (origin.requests, ContinuousClock.now)
    try fetchAgain(hours: 0) { summary in
      let rate = Double(summary.hits) / max(0.001, begin.duration(to: .now) / .seconds(1))
      talk.check(
        origin.requests - requests == plan.missingCount,
        "only the \(HumanText.count(plan.missingCount)) missing ones were asked for again")
      talk.check(
        summary.hits == summary.done && summary.revalidated == 0,
        "\(HumanText.count(summary.hits)) files from the cache, \(HumanText.rate(rate)) per second")
    }
  }

  func fetchAfterAnHour() throws {
    talk.heading("3. Once more, two hours later by the cache's clock: it asks whether they still hold")
    let (requests, confirmed) = (origin.requests, origin.confirmed)
    try fetchAgain(hours: 2) { summary in
      let (asked, held) = (origin.requests - requests, origin.confirmed - confirmed)
      talk.check(
        held == plan.count - plan.missingCount && asked == plan.count,
        "\(HumanText.count(asked)) requests: \(HumanText.count(held)) answers of 304 without a body")
      talk.check(
        summary.hits == summary.done && summary.revalidated > 0,
        "\(HumanText.count(summary.hits)) files from the cache, confirmed by the origin")
    }
  }

  /// Into an empty folder, so that every file shows whether it came.
  private func fetchAgain(hours: Int64, _ check: (Summary) -> Void) throws {
    folder.remove("out")
    let (status, summary) = try fetch(folder["list.txt"], hours: hours)
    if stop.status != nil { return }
    talk.check(status == (plan.missingCount > 0 ? .failedForGood : .allDone), "exit status \(status.code)")
    check(summary)
    checkFiles(plan.files)
  }

  private static let form = "name=Ada+Lovelace&words=hello"

  func postThroughAnOutage() throws {
    talk.heading(
      "5. A form is posted while the origin is down: it is frozen, and sent when the origin is back")
    origin.goDown()
    let begin = ContinuousClock.now
    let (status, ticket) = try post()
    if stop.status != nil { return }
    let milliseconds = HumanText.decimal(begin.duration(to: .now) / .milliseconds(1))
    talk.check(status == .allDone && !ticket.isEmpty, "on disk after \(milliseconds) ms: \(ticket)")
    let waiting = try listed()
    talk.check(waiting.count == 1 && origin.entries.isEmpty, "one request waits, the origin has seen nothing")
    try origin.comeBack()
    talk.note("the origin is back; netspool frozen thaw:")
    let (thawed, outcome) = try thaw()
    if stop.status != nil { return }
    talk.check(thawed == .allDone, outcome.isEmpty ? "nothing was sent" : outcome)
    let key = waiting.first.map { "\"\($0.idempotencyKey)\"" }
    talk.check(
      key != nil && origin.entries == [DemoOrigin.Entry(key: key, body: Array(Self.form.utf8))],
      "the origin has the form once, byte for byte, with its idempotency key")
    talk.check(try listed().isEmpty, "nothing waits any more")
  }

  private var store: [String] { ["--frozen-store", folder["frozen"]] }

  private func post() throws -> (JobStatus, ticket: String) {
    let url = origin.origin.url(DemoOrigin.guestbookPath)
    let options = try PostCommand.parse([url, "--data", Self.form, "--freeze", "--detach"] + store)
    var post = FrozenPost(options: options, console: console, stop: stop, environment: environment)
    let printed = Printed()
    post.print = printed.add
    return (try post.run(), printed.line)
  }

  private func thaw() throws -> (JobStatus, outcome: String) {
    let quiet = Console(isTerminal: false) { _ in }
    var thaw = ThawRun(
      options: try FrozenThawCommand.parse(store), console: quiet, stop: stop, environment: environment)
    let printed = Printed()
    thaw.print = printed.add
    return (try thaw.run(), printed.line)
  }

  private func listed() throws -> [FrozenOperation] {
    try FrozenKeeper(place: try FrozenPlace.parse(store), console: console, environment: environment)
      .waiting()
  }
}

/// What a command has printed.
private final class Printed: Sendable {
  private let text = Mutex("")
  var line: String { text.withLock { $0.hasSuffix("\n") ? String($0.dropLast()) : $0 } }

  @Sendable func add(_ bytes: [UInt8]) { text.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
}
