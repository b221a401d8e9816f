/// From where the body of a line is asked, when there are several places: each once, and when all have failed those once
/// more, with retries, that may work then. Pure.
struct Sources: Equatable, Sendable {
  private(set) var url: String
  /// The places of this round that were not asked yet.
  private var rest: ArraySlice<String>
  /// The sources of the next round.
  private var again: [String] = []
  /// True where no other round follows: then the library's own retries are of use.
  private(set) var isLastRound: Bool

  init(_ url: String, mirrors: [String] = []) {
    (self.url, rest) = (url, mirrors[...])
    isLastRound = mirrors.isEmpty
  }

  /// Goes to the next place. False when there is none.
  /// - Parameter mayPass: whether the one that has failed may work later.
  mutating func advance(mayPass: Bool) -> Bool {
    if mayPass, !isLastRound { again.append(url) }
    if rest.isEmpty, !isLastRound { (rest, again, isLastRound) = (again[...], [], true) }
    guard let next = rest.popFirst() else { return false }
    url = next
    return true
  }
}
