import ArgumentParser

/// The options of `netspool doctor`.
struct DoctorOptions: ParsableArguments {
  @OptionGroup var place: CachePlace

  @OptionGroup var frozen: FrozenPlace

  @Flag(help: "Print JSON instead of a table.")
  var json = false
}
