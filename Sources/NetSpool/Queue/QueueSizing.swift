/// How many requests an origin gets at once.
enum QueueSizing: Hashable, Sendable {
  /// From latency, failures, refusals and Retry-After, per origin. The default.
  case adaptive
  /// Always so many.
  case fixed(Int)
  /// By the kind of link: `local` on wired and Wi-Fi, `cellular` on a metered radio link.
  case byLink(local: Int, cellular: Int)

  /// The kinds of link that `byLink` tells apart.
  enum Link: Hashable, Sendable { case local, cellular }

  /// Whether every width in it is at least 1; others are refused as an invalid configuration.
  var isValid: Bool {
    switch self {
    case .adaptive: true
    case .fixed(let width): width >= 1
    case .byLink(let local, let cellular): local >= 1 && cellular >= 1
    }
  }
}
