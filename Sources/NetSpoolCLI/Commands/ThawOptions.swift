import ArgumentParser

/// The options of `netspool frozen thaw`.
struct ThawOptions: ParsableArguments {
  @Argument(help: "The numbers of those to send; all that wait if none is named.")
  var ids: [UInt64] = []

  @Option(
    name: [.short, .long],
    help: ArgumentHelp(
      "The value of a secret header, as 'Name: value', for the requests that need it. Repeatable.",
      valueName: "field"))
  var header: [HeaderField] = []

  @Option(help: ArgumentHelp("Leave after this long, whatever still waits: 30s, 5m, 1h.", valueName: "time"))
  var timeout = TimeSpan(seconds: Double(RequestOptions.timeoutSeconds))

  @Flag(help: "Print one JSON object per outcome instead of a line.")
  var json = false

  @OptionGroup var place: FrozenPlace
}
