import ArgumentParser

/// `--tree`: in which folder a body goes whose line gives no name.
enum OutputTree: String, CaseIterable, Sendable, ExpressibleByArgument {
  case flat
  case host
  /// As in the URL, below its host.
  case path
  /// 256 by a hash of the URL, so that no folder has too many files.
  case hash2

  func name(of url: String) -> String {
    let name = OutputName.fromURL(url)
    switch self {
    case .flat: return name
    case .host: return "\(Self.hostFolder(url))/\(name)"
    case .path:
      let folders = URLText.pathComponents(url).dropLast().map { OutputName.fromURL("http://h/\($0)") }
      return ([Self.hostFolder(url)] + folders + [name]).joined(separator: "/")
    case .hash2:
      let hash = URLText.fnv1a(URLText.withoutFragment(url).utf8)
      let folder = HumanText.padded(String((hash ^ hash >> 16) & 0xFF, radix: 16), to: 2, with: "0")
      return "\(folder)/\(name)"
    }
  }

  private static func hostFolder(_ url: String) -> String {
    OutputName.fromList(URLText.host(url).lowercased()) ?? "_"
  }
}
