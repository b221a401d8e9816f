/// Finds the origin of a URL; the authority of each spelling is judged by `URLParser` once.
struct OriginTable {
  private var byText: [String: Origin] = [:]
  private var spellings: [String: Origin] = [:]
  private var latest: (spelling: String, origin: Origin)?
  private(set) var byID: [OriginID: Origin] = [:]

  /// Where a URL leads: its origin, and its pieces when they had to be looked at.
  struct Place {
    let origin: Origin
    let canonical: ParsedURL?
  }

  mutating func place(_ url: String, make: (URLPieces.Origin) -> Origin) throws(NetworkError) -> Place {
    let length = PlainURL.originLength(url)
    if let length, let origin = known(url, length) { return Place(origin: origin, canonical: nil) }
    let parsed = try URLParser.parse(url)
    let origin = origin(parsed.pieces.origin, make: make)
    guard let length, parsed.user == nil, parsed.password == nil else {
      return Place(origin: origin, canonical: parsed)
    }
    spellings[String(url.utf8.prefix(length))!] = origin
    return Place(origin: origin, canonical: nil)
  }

  private mutating func known(_ url: String, _ length: Int) -> Origin? {
    if let latest, Self.begins(url, with: latest.spelling, length) { return latest.origin }
    let spelling = String(url.utf8.prefix(length))!
    guard let origin = spellings[spelling] else { return nil }
    latest = (spelling, origin)
    return origin
  }

  private static func begins(_ url: String, with spelling: String, _ length: Int) -> Bool {
    let url = url.utf8.span
    let spelling = spelling.utf8.span
    guard spelling.count == length else { return false }
    for index in 0..<length where url[index] != spelling[index] { return false }
    return true
  }

  private mutating func origin(_ pieces: URLPieces.Origin, make: (URLPieces.Origin) -> Origin) -> Origin {
    let text = pieces.text
    if let origin = byText[text] { return origin }
    let origin = make(pieces)
    byText[text] = origin
    byID[origin.id] = origin
    return origin
  }

  var all: some Collection<Origin> { byText.values }

  /// Forgets some origins. Costs the length of the table.
  mutating func remove(_ ids: Set<OriginID>) {
    for id in ids {
      guard let origin = byID.removeValue(forKey: id) else { continue }
      byText[origin.text] = nil
    }
    spellings = spellings.filter { !ids.contains($0.value.id) }
    latest = nil
  }
}
