import NetSpool
import Testing

/// The rules of RFC 9111, RFC 9110, RFC 5861 and RFC 8246 for a private cache, seen from both of its ends: what
/// reaches the origin, and what the caller gets.
struct ConformanceTests {
  @Test(arguments: CacheRows.groups)
  func `a private cache keeps the rules`(of group: CacheRows.Group) async throws {
    try await withCache(rules: group.rules) { engine, origin, clock in
      let story = CacheStory(engine, origin, clock)
      for (index, row) in group.rows.enumerated() { await story.play(row, at: "/\(index)") }
    }
  }
}

/// All rows, by what they are about.
enum CacheRows {
  struct Group: Sendable, CustomTestStringConvertible {
    let name: String
    var rules = NetSpool.CacheRules.standard
    let rows: [CacheRow]
    var testDescription: String { name }
  }

  static let lasting = "Cache-Control: max-age=100"
  static let short = "Cache-Control: max-age=10"
  static let ann = ["Authorization: Bearer a"]
  static let bob = ["Authorization: Bearer b"]

  static let groups = [
    Group(name: "lifetimes", rows: lifetimes), Group(name: "Expires", rows: expires),
    Group(name: "Cache-Control as text", rows: directiveText), Group(name: "Age", rows: ages),
    Group(name: "request directives", rows: requestDirectives),
    Group(name: "response directives", rows: responseDirectives),
    Group(name: "heuristics", rows: heuristics), Group(name: "statuses", rows: statuses),
    Group(name: "methods", rows: methods), Group(name: "answers to POST", rows: posted),
    Group(name: "Vary", rows: vary),
    Group(name: "variants", rows: variants), Group(name: "validation", rows: validation),
    Group(name: "304 updates", rows: updates), Group(name: "HEAD updates", rows: headUpdates),
    Group(name: "invalidation", rows: invalidation), Group(name: "staleness", rows: staleness),
    Group(name: "stored fields", rows: storedFields), Group(name: "whole answers", rows: wholeAnswers),
    Group(name: "ranges", rows: ranges), Group(name: "a caller's own conditions", rows: ownConditions),
    Group(name: "redirects", rows: redirects), Group(name: "credentials", rows: credentials),
    Group(name: "a shared cache", rules: sharedRules, rows: sharedCache),
    Group(name: "relaxed rules", rules: .relaxed, rows: relaxed),
    Group(name: "numbers of the caller's own", rules: ownNumbers, rows: numbers),
    Group(name: "no heuristics", rules: noHeuristics, rows: said),
  ]
}
