/// What somebody meant who wrote a word that is not there.
enum Suggestion {
  /// The nearest of the words; nil when none is near.
  static func nearest(to word: String, in words: [String]) -> String? {
    let ranked = words.map { ($0, distance(word, $0)) }
    guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= max(1, word.count / 3) else { return nil }
    return best.0
  }

  /// How many letters must be changed, added or taken away (Levenshtein).
  static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a), Array(b))
    var row = Array(0...b.count)
    for (i, letter) in a.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      for (j, other) in b.enumerated() {
        let changed = diagonal + (letter == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(changed, diagonal + 1, row[j] + 1)
      }
    }
    return row[b.count]
  }
}
