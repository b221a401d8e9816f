import Testing

@testable import NetSpool
@testable import TestSupport

/// Random answers against a second, naive model: it is given what was meant, the rules under test only the
/// text of it.
struct CacheModelTests {
  enum Moment {
    case missing, garbage
    case offset(Int64)

    var offset: Int64 { if case .offset(let seconds) = self { seconds } else { 0 } }

    func line(_ name: String, from base: Int64, garbage: String) -> [String] {
      switch self {
      case .missing: []
      case .garbage: ["\(name): \(garbage)"]
      case .offset(let seconds): ["\(name): \(HTTPDate.format(base + seconds))"]
      }
    }
  }

  /// What an origin means.
  struct Meaning {
    var maxAges: [Int64?] = []  // nil: garbage
    var sMaxAge: Int64?
    var expires = Moment.missing  // from Date
    var date = Moment.missing  // from receipt
    var age: Int64?
    var modified: Int64?  // before Date
    var isNoCache = false
    var isImage = false
    var hasTag = false
  }

  private func lifetime(_ meaning: Meaning, _ rules: CacheRules) -> Int64 {
    if meaning.isNoCache { return min(rules.noCacheSeconds, controlled(meaning, rules) ?? .max) }
    if let controlled = controlled(meaning, rules) { return controlled }
    let guess = guess(meaning, rules.heuristics)
    if case .missing = meaning.expires { return guess }
    if rules.heuristics.overridesExpires, guess > 0 { return guess }
    return max(0, meaning.expires.offset)
  }

  private func controlled(_ meaning: Meaning, _ rules: CacheRules) -> Int64? {
    if rules.isShared, let shared = meaning.sMaxAge { return shared }
    guard let first = meaning.maxAges.first else { return nil }
    return Set(meaning.maxAges).count == 1 ? first ?? 0 : 0
  }

  private func guess(_ meaning: Meaning, _ heuristics: CacheHeuristics) -> Int64 {
    switch (meaning.isImage, meaning.hasTag, meaning.modified) {
    case (true, false, nil): heuristics.imageSeconds
    case (true, _, _) where heuristics.validatedImageSeconds > 0: heuristics.validatedImageSeconds
    case (_, true, _) where heuristics.entityTagSeconds > 0: heuristics.entityTagSeconds
    case (_, _, let modified?):
      min(modified * heuristics.lastModifiedPercent / 100, heuristics.lastModifiedSecondsMax)
    default: 0
    }
  }

  private func isFresh(_ meaning: Meaning, _ rules: CacheRules, delay: Int64, after: Int64) -> Bool {
    let date = meaning.date.offset
    let age = max(0, meaning.age ?? 0)
    let initial = max(-date * 1000, age * 1000 + delay)
    return lifetime(meaning, rules) * 1000 - initial > after
  }

  private func lines(_ meaning: Meaning, _ random: inout SplitMix64) -> [String] {
    var directives = meaning.maxAges.map { spelled("max-age", $0, &random) }
    if let shared = meaning.sMaxAge { directives.append(spelled("s-maxage", shared, &random)) }
    if meaning.isNoCache { directives.append(mixedCase("no-cache", &random)) }
    directives += ["ext=\"no-cache, max-age=9\"", "private=\"x-nothing\"", "public"].filter { _ in
      random.chance(30)
    }
    var lines = directives.shuffled(using: &random).map { mixedCase("Cache-Control", &random) + ": " + $0 }
    let base = receipt / 1000 + meaning.date.offset
    lines += meaning.date.line("Date", from: receipt / 1000, garbage: "soon")
    lines += meaning.expires.line("Expires", from: base, garbage: "0")
    if let modified = meaning.modified { lines.append("Last-Modified: " + HTTPDate.format(base - modified)) }
    if let age = meaning.age { lines.append("Age: \(age)" + (random.chance(20) ? ", 5" : "")) }
    if meaning.isImage { lines.append("Content-Type: image/png") }
    if meaning.hasTag { lines.append("ETag: \"x\"") }
    return lines.shuffled(using: &random)
  }

  private func spelled(_ name: String, _ value: Int64?, _ random: inout SplitMix64) -> String {
    let name = mixedCase(name, &random)
    guard let value else {
      return name + ["", "=", "=x", "=-1", "=1.5", " =5"].randomElement(using: &random)!
    }
    let digits = String(repeating: "0", count: Int.random(in: 0...2, using: &random)) + String(value)
    return random.chance(40) ? "\(name)=\"\(digits)\"" : "\(name)=\(digits)"
  }

  private func mixedCase(_ text: String, _ random: inout SplitMix64) -> String {
    String(text.map { random.chance(50) ? Character($0.uppercased()) : Character($0.lowercased()) })
  }

  private func meaning(_ random: inout SplitMix64) -> Meaning {
    func seconds(_ random: inout SplitMix64) -> Int64 {
      [0, 1, 59, 60, 61, 600, 86_400, Int64.random(in: 0...1000, using: &random)].randomElement(
        using: &random)!
    }
    var meaning = Meaning()
    for _ in 0..<[0, 0, 1, 1, 1, 2].randomElement(using: &random)! {
      let again = random.chance(50) ? meaning.maxAges.first ?? nil : nil
      meaning.maxAges.append(random.chance(15) ? nil : again ?? seconds(&random))
    }
    if random.chance(20) { meaning.sMaxAge = seconds(&random) }
    if random.chance(40) { meaning.expires = random.chance(20) ? .garbage : .offset(seconds(&random) - 50) }
    if random.chance(80) {
      let offsets: [Int64] = [0, 0, -60, 300, 301, -Int64.random(in: 0...600, using: &random)]
      meaning.date = random.chance(10) ? .garbage : .offset(offsets.randomElement(using: &random)!)
    }
    if random.chance(30) { meaning.age = random.chance(10) ? -5 : seconds(&random) }
    if random.chance(40) { meaning.modified = seconds(&random) }
    meaning.isNoCache = random.chance(15)
    meaning.isImage = random.chance(30)
    meaning.hasTag = random.chance(30)
    return meaning
  }

  @Test(arguments: [CacheRules.standard, .relaxed, sharedRules, CacheHeuristicsTests.none])
  func `text and meaning agree`(_ rules: CacheRules) throws {
    let seed: UInt64 = 77
    var random = SplitMix64(seed: seed)
    for round in 0..<800 {
      let meaning = meaning(&random)
      let lines = lines(meaning, &random)
      let delay = Int64.random(in: 0...3000, using: &random)
      let held = try #require(stored(lines, delay: delay, rules: rules))
      #expect(held.facts.lifetime == lifetime(meaning, rules), "seed \(seed), round \(round): \(lines)")
      for after in [0, 1, 59_999, 60_000, Int64.random(in: 0...700_000, using: &random)] {
        let expected = isFresh(meaning, rules, delay: delay, after: after)
        #expect(
          held.isFresh(at: receipt + after) == expected, "seed \(seed), round \(round), \(after) ms: \(lines)"
        )
      }
    }
  }

  /// Vary against the plain reading: each field's list of elements, by name.
  @Test func `variants and elements agree`() throws {
    let seed: UInt64 = 78
    var random = SplitMix64(seed: seed)
    for round in 0..<800 {
      let names = ["A", "B", "C"].filter { _ in random.chance(60) }
      let requests = (0..<2).map { _ in elements(&random) }
      let texts = requests.map { spelled($0, &random) }
      let expected = names.allSatisfy { requests[0][$0] == requests[1][$0] }
      let vary = try #require(VaryFields(fields(names.map { "Vary: \($0)" })))
      let index = VariantIndex(fields: vary)
      let keys = texts.map { CacheKey.variant(index, of: [], headers: fields($0)) }
      #expect((keys[0] == keys[1]) == expected, "seed \(seed), round \(round): \(texts)")
    }
  }

  private func elements(_ random: inout SplitMix64) -> [String: [String]] {
    var fields: [String: [String]] = [:]
    for name in ["A", "B", "C"] where random.chance(70) {
      fields[name] = (0...Int.random(in: 0...2, using: &random)).map { _ in
        ["x", "Y", "x y"].randomElement(using: &random)!
      }
    }
    return fields
  }

  private func spelled(_ fields: [String: [String]], _ random: inout SplitMix64) -> [String] {
    var lines: [String] = []
    for (name, elements) in fields.sorted(by: { $0.key < $1.key }).shuffled(using: &random) {
      var line = mixedCase(name, &random) + ": " + elements[0]
      for element in elements.dropFirst() {
        if random.chance(30) {
          lines.append(line)
          line = mixedCase(name, &random) + ": " + element
        } else {
          line += [",", ", ", " ,\t"].randomElement(using: &random)! + element
        }
      }
      lines.append(line)
    }
    return lines
  }
}
