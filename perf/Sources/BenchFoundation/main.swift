import BenchKit

// What Foundation offers for bodies by key, each used as directly as it allows.

let options = Options.fromCommandLine()
guard options.mode == .lookup else { usageError("this client knows --lookup only") }

let store = makeStore(options)
var lookups = Lookups(options)
lookups.run { indices in
  indices.count { index in store.find(index) == 0 }
}
var report = Report(client: "foundation", options: options)
report.add("requests", options.requests)
lookups.add(to: &report)
report.print()
abandonEverything()
