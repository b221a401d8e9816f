import ArgumentParser

/// The options of `netspool doctor`.
struct DoctorOptions: ParsableArguments {
  @Flag(help: "Print JSON instead of a table.")
  var json = false
}
