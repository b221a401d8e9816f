import NetSpoolCore

// The inside of a hit, without the engine: the store's lookup, and what it takes to know that it is fresh.

let options = Options.fromCommandLine()
guard options.mode == .lookup, !options.cache.isEmpty else { usageError("--lookup and --cache are needed") }

do {
  let store = try FilledStore(options)
  var lookups = Lookups(options)
  lookups.run { indices in indices.count { index in store.find(index) == 0 } }
  var report = Report(client: "inside", options: options)
  report.add("requests", options.requests)
  lookups.add(to: &report)
  report.add("rss_max_bytes", Memory.peak())
  report.add("errors", lookups.errors)
  report.print()
} catch {
  usageError("\(error)")
}
abandonEverything()
