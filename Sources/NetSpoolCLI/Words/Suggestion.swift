/// The word that a user meant by one that is not there.
enum Suggestion {
  /// The nearest of the words; nil when none is near.
  static func nearest(to word: String, in words: [String]) -> String? {
    let ranked = words.map { ($0, distance(word, $0)) }
    guard let best = ranked.min(by: { $0.1 < $1.1 }), best.1 <= max(1, word.count / 3) else { return nil }
    return best.0
  }

  /// How many letters must be changed, added, taken away or swapped with their neighbours.
  static func distance(_ a: String, _ b: String) -> Int {
    let (a, b) = (Array(a), Array(b))
    var rows = [Array(0...b.count)]
    for i in a.indices {
      var row = [i + 1]
      for j in b.indices {
        var best = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), rows[i][j + 1] + 1, row[j] + 1)
        if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
        row.append(best)
      }
      rows.append(row)
    }
    return rows[a.count][b.count]
  }
}
