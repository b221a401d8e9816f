import Glibc

/// Where lines come from: a file, standard input, or the command line itself.
enum ListSource: Equatable, Sendable {
  case file(String)
  case standardInput
  case arguments([String])

  /// Sorts arguments: `-` is standard input, what contains `://` is a URL, the rest are paths of lists.
  /// The order is kept; neighbouring URLs become one source.
  static func sources(of arguments: [String]) -> [ListSource] {
    var sources: [ListSource] = []
    for argument in arguments {
      if argument == "-" {
        sources.append(.standardInput)
      } else if !URLText.looksLikeURL(argument) {
        sources.append(.file(argument))
      } else if case .arguments(let urls) = sources.last {
        sources[sources.count - 1] = .arguments(urls + [argument])
      } else {
        sources.append(.arguments([argument]))
      }
    }
    return sources
  }
}
