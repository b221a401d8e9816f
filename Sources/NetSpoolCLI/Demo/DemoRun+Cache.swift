import Glibc

/// The same list again, which the cache answers.
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
    if stopped != nil { return }
    talk.check(
      status == (plan.missingCount > 0 ? .failedForGood : .allDone), "exit status \(status.code)")
    check(summary)
    checkFiles(plan.files)
  }

  /// Now, since 1970.
  static var milliseconds: Int64 {
    var time = timespec()
    unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
