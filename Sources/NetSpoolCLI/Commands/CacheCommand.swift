import ArgumentParser
import NetSpool

/// `netspool cache`: what is in the cache, and out with it.
struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Look at the cache of fetch, empty it, or remove single URLs.",
    subcommands: [CacheStatsCommand.self, CacheEmptyCommand.self, CacheRemoveCommand.self])
}

/// `netspool cache stats`.
struct CacheStatsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats", abstract: "Show where the cache is, how many entries it has and what they take.")

  @OptionGroup var place: CachePlace

  @Flag(help: "Print JSON instead of a table.")
  var json = false

  func run() throws {
    try CacheKeeper.run(place) { keeper throws(CacheFailure) in
      let sheet = try keeper.facts()
      return json ? sheet.json : Array(sheet.text.utf8)
    }
  }
}

/// `netspool cache empty`.
struct CacheEmptyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "empty", abstract: "Remove everything that fetch has cached.",
    discussion: """
      Jobs that use the cache at the same time go on and fill it again. The file keeps its length; what is free \
      in it is used again.
      """)

  @OptionGroup var place: CachePlace

  func run() throws {
    try CacheKeeper.run(place) { keeper throws(CacheFailure) in
      Array("removed \(HumanText.entries(try keeper.empty()))\n".utf8)
    }
  }
}

/// `netspool cache remove URL...`.
struct CacheRemoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "remove", abstract: "Remove URLs from the cache, in all their variants.",
    discussion: "That a URL is not in the cache is no error.")

  @Argument(help: "URLs, with http:// or https://; with --prefix what they begin with.")
  var urls: [String]

  @Flag(help: "Remove every URL that begins so.")
  var prefix = false

  @OptionGroup var place: CachePlace

  func validate() throws {
    for url in urls {
      if let problem = URLText.problem(url) {
        throw ValidationError("'\(URLText.masked(url))': \(problem.sentence).")
      }
    }
  }

  func run() throws {
    try CacheKeeper.run(place) { keeper throws(CacheFailure) in
      Array("removed \(HumanText.entries(try keeper.remove(urls, arePrefixes: prefix)))\n".utf8)
    }
  }
}

extension HumanText {
  /// `1 entry`, `2 entries`.
  fileprivate static func entries(_ number: Int) -> String {
    "\(count(number)) \(number == 1 ? "entry" : "entries")"
  }
}
