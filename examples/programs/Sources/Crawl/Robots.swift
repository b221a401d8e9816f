/// What a site's `robots.txt` asks of one crawler (RFC 9309).
struct Robots: Sendable {
  private struct Rule {
    let pattern: [UInt8]
    let allows: Bool
  }

  private var rules: [Rule] = []
  /// Between two requests; nil when it says nothing.
  private(set) var delay: Duration?

  /// The groups that name this crawler, or those for all.
  init(_ text: String, for name: String) {
    let lines = text.split(whereSeparator: \.isNewline).compactMap(Self.pair)
    let named = lines.contains { $0.key == "user-agent" && $0.value.lowercased() == name.lowercased() }
    let wanted = named ? name.lowercased() : "*"
    var isOurs = false
    var isNaming = false
    for (key, value) in lines {
      if key == "user-agent" {
        isOurs = (isNaming && isOurs) || value.lowercased() == wanted
        isNaming = true
        continue
      }
      isNaming = false
      guard isOurs else { continue }
      switch key {
      case "allow", "disallow":
        if !value.isEmpty { rules.append(Rule(pattern: Array(value.utf8), allows: key == "allow")) }
      case "crawl-delay": delay = Double(value).map { .seconds($0) }
      default: break
      }
    }
  }

  private static func pair(_ line: Substring) -> (key: String, value: String)? {
    let parts = line.prefix { $0 != "#" }.split(
      separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    func trimmed(_ text: Substring) -> String {
      String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }
    return (trimmed(parts[0]).lowercased(), trimmed(parts[1]))
  }

  /// The longest rule that fits decides; of two equal ones the one that allows.
  func allows(_ path: String) -> Bool {
    let path = Array(path.utf8)
    let fitting = rules.filter { Self.fits(path, $0.pattern) }
    let longest = fitting.max {
      ($0.pattern.count, $0.allows ? 1 : 0) < ($1.pattern.count, $1.allows ? 1 : 0)
    }
    return longest?.allows ?? true
  }

  /// `*` is anything, and `$` the end. A pattern is a stranger's: this takes no longer than one length times the other.
  private static func fits(_ path: [UInt8], _ pattern: [UInt8]) -> Bool {
    let isWhole = pattern.last == UInt8(ascii: "$")
    let pattern = isWhole ? Array(pattern.dropLast()) : pattern + [star]
    var (here, next) = (0, 0)
    // Where the last star stands, and how much of the path it has taken.
    var last: (star: Int, taken: Int)?
    while here < path.count {
      if next < pattern.count, pattern[next] == star {
        last = (next, here)
        next += 1
      } else if next < pattern.count, pattern[next] == path[here] {
        (here, next) = (here + 1, next + 1)
      } else if let back = last {
        last = (back.star, back.taken + 1)
        (here, next) = (back.taken + 1, back.star + 1)
      } else {
        return false
      }
    }
    return pattern[next...].allSatisfy { $0 == star }
  }

  private static let star = UInt8(ascii: "*")
}
