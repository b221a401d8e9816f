/// `fetch --dry-run`: prints what would be fetched, as a list that `fetch` can read.
struct DryRun {
  let plan: FetchPlan
  let console: Console
  let stop: StopSwitch
  let reactor: any Reactor

  func run() throws(IOFailure) -> JobStatus {
    stop.onPress(reactor.wake)
    let output = FailedWriter(try OutputFile.create("-"))
    while true {
      if let signal { return .signal(signal) }
      switch try plan.next() {
      case .fetch(let item): try output.write(url: item.url, output: item.output)
      case .broken(let line): console.message(line.description)
      case .skipped: continue
      case .starved: reactor.wait(input: plan.list.waitingFor, timeout: nil)
      case .end:
        try output.flush()
        return plan.tally.broken > 0 ? .failedForGood : .allDone
      }
    }
  }

  private var signal: Int32? {
    switch stop.wish {
    case .none: nil
    case .drain(let signal), .quit(let signal): signal
    }
  }
}
