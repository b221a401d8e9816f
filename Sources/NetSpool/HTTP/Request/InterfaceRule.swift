/// The interfaces over which an engine may send. Pure.
struct InterfaceRule: Sendable, Hashable {
  /// Names, or beginnings of names with a `*` behind them.
  let patterns: [String]

  func allows(_ name: String) -> Bool {
    patterns.contains { $0.hasSuffix("*") ? name.hasPrefix($0.dropLast()) : name == $0 }
  }

  /// IFNAMSIZ of netdevice(7), with its end.
  private static let nameBytesMax = 15

  /// Throws `invalidConfiguration`: no name at all, one that no interface can have, or a whole one that none has now.
  static func check(_ patterns: [String]) throws(NetworkError) {
    let isUsable = patterns.allSatisfy { pattern in
      let name = pattern.hasSuffix("*") ? pattern.dropLast() : pattern[...]
      let isName =
        name.utf8.count <= nameBytesMax
        && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"/*:".utf8.contains($0) }
      return isName && !(name.isEmpty && pattern.isEmpty)
    }
    if patterns.isEmpty || !isUsable { throw NetworkError(.invalidConfiguration, cause: .allowedInterfaces) }
    if let missing = patterns.first(where: { !$0.hasSuffix("*") && !NetworkInterface.exists($0) }) {
      throw NetworkError(.invalidConfiguration, reason: "allowedInterfaces: \(missing)")
    }
  }
}
