// What the public face does not show: the store's lookup without the engine, with what it takes to know that it is
// fresh, the store of frozen requests, and how late the loop is.

let options = Options.fromCommandLine()

do {
  if options.mode == .lag {
    try measureLag(options)
    abandonEverything()
  }
  if options.mode == .freeze {
    try measureFreezing(options)
    abandonEverything()
  }
  guard options.mode == .lookup, !options.cache.isEmpty else {
    usageError("--lag, or --lookup or --freeze with --cache")
  }
  let store = try FilledStore(options)
  var lookups = Lookups(options)
  lookups.run { indices in indices.count { index in store.find(index) == 0 } }
  var report = Report(client: "inside", options: options)
  report.add("requests", options.requests)
  lookups.add(to: &report)
  report.print()
} catch {
  usageError("\(error)")
}
abandonEverything()
