import ArgumentParser

/// How `post` freezes.
struct FreezingOptions: ParsableArguments {
  @Flag(
    help: ArgumentHelp(
      "Keep the request on disk until the origin has answered. Prints its ticket as soon as it is there, and goes on "
        + "trying until it is sent."))
  var freeze = false

  @Flag(help: "With --freeze: leave as soon as it is on disk. 'netspool frozen thaw' sends it.")
  var detach = false

  @OptionGroup var place: FrozenPlace

  @Option(
    help: ArgumentHelp(
      "Requests of one lane go one at a time, in order. Default: all to one origin are one lane.",
      valueName: "name"))
  var lane: String?

  @Option(
    help: ArgumentHelp(
      "As long as a request with this key waits, another one adds nothing and waits for it.", valueName: "key"
    ))
  var dedupe: String?

  @Option(help: ArgumentHelp("A name of your own for it, shown by 'frozen list'.", valueName: "name"))
  var tag: String?

  @Option(
    help: ArgumentHelp(
      "Give up what could not be sent for this long: 12h, 7d. Default: 7d.", valueName: "time"))
  var expires: TimeSpan?

  @Flag(
    help: ArgumentHelp(
      "Print the ticket as one JSON object. The answer's body then goes nowhere unless --output names a file."
    ))
  var jsonOutput = false

  func validate() throws {
    let others = [
      ("--detach", detach), ("--frozen-store", place.directory != nil), ("--lane", lane != nil),
      ("--dedupe", dedupe != nil), ("--tag", tag != nil), ("--expires", expires != nil),
      ("--json-output", jsonOutput),
    ]
    if !freeze, let first = others.first(where: \.1) { throw ValidationError("\(first.0) needs --freeze.") }
    for (name, value) in [("--lane", lane), ("--dedupe", dedupe), ("--tag", tag)] {
      guard let value else { continue }
      guard (1...Self.nameBytesMax).contains(value.utf8.count),
        value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F })
      else {
        throw ValidationError(
          "\(name) is a name of 1 to \(Self.nameBytesMax) bytes without control characters.")
      }
    }
  }

  static let nameBytesMax = 255
}
