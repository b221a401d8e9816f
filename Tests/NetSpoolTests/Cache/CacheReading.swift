import NetSpool

/// A second reading of RFC 9111 and RFC 5861 for a private cache: from the papers, and from nothing of the code. The origin
/// says no Date and no Last-Modified, and the clock stands still while a request is on its way.
struct CacheReading {
  struct Key: Hashable {
    let path: String
    /// With the process, where it alone can find what is theirs.
    let user: String
    let foo: String
  }

  /// The directives of one Cache-Control field, with their numbers.
  struct Control {
    private let numbers: [String: Int64?]

    init(_ text: String) {
      let pieces = text.split(separator: ",").map { $0.split(separator: "=") }
      numbers = Dictionary(
        uniqueKeysWithValues: pieces.map { piece in
          (piece[0].filter { $0 != " " }, piece.count > 1 ? Int64(piece[1]) : nil)
        })
    }

    func has(_ name: String) -> Bool { numbers[name] != nil }
    /// In milliseconds.
    func time(_ name: String) -> Int64? { (numbers[name] ?? nil).map { $0 * 1000 } }
  }

  struct Request {
    var policy = NetSpool.CachePolicy.automatic
    var control = Control("")
    var isHead = false
    /// A caller's own If-None-Match.
    var tag: String?
    /// Positions of a caller's own Range.
    var range: ClosedRange<Int>?
    var now: Int64

    /// Nothing stored serves that was not confirmed (sections 5.2.1.1 and 5.2.1.4), or nothing at all (5.2.1.5).
    fileprivate var wantsOrigin: Bool {
      control.has("no-cache") || control.has("no-store") || control.time("max-age") == 0
        || policy == .alwaysValidate || policy == .reload
    }
  }

  struct Entry {
    let text: String
    let tag: String
    var control: String
    var receivedAt: Int64
    /// Milliseconds.
    var ageAtReceipt: Int64

    private var said: Control { Control(control) }

    /// Section 4.2.3.
    fileprivate func age(_ now: Int64) -> Int64 { ageAtReceipt + now - receivedAt }
    /// By how much the lifetime is longer (section 4.2).
    fileprivate func left(_ now: Int64) -> Int64 { (said.time("max-age") ?? 0) - age(now) }
    /// Section 5.2.2.4.
    fileprivate var mustBeConfirmed: Bool { said.has("no-cache") }
    /// Section 4.2.4.
    fileprivate var mayBeStale: Bool { !said.has("must-revalidate") && !mustBeConfirmed }
    fileprivate var staleIfError: Int64 { said.time("stale-if-error") ?? 0 }
  }

  var entries: [Key: Entry] = [:]

  /// The answer is what is stored, and the origin is not asked (section 4).
  func serves(_ entry: Entry, _ request: Request) -> Bool {
    if request.wantsOrigin || entry.mustBeConfirmed { return false }
    let (left, age) = (entry.left(request.now), entry.age(request.now))
    if request.policy != .automatic { return left > 0 || entry.mayBeStale }
    if let lasting = request.control.time("min-fresh") { return left > 0 && left >= lasting }
    let stale = request.control.has("max-stale") ? request.control.time("max-stale") ?? .max / 4 : 0
    if let oldest = request.control.time("max-age"), age > oldest + stale { return false }
    return left > 0 || entry.mayBeStale && request.control.has("max-stale") && -left <= stale
  }

  /// It is the answer after a 503 (RFC 5861 section 4).
  func standsIn(_ entry: Entry, _ request: Request) -> Bool {
    let left = entry.left(request.now)
    if request.wantsOrigin || entry.mustBeConfirmed || left <= 0 && !entry.mayBeStale { return false }
    let allowed = max(entry.staleIfError, request.control.time("stale-if-error") ?? 0)
    return allowed > 0 && -left <= allowed
  }

  /// What a stored answer is for this request (section 4.3.2, RFC 9110 section 14.2).
  func shown(_ entry: Entry, _ request: Request) -> (status: Int, text: String) {
    if request.isHead { return (200, "") }
    if let tag = request.tag { return tag == entry.tag ? (304, "") : (200, entry.text) }
    guard let range = request.range else { return (200, entry.text) }
    return (206, String(Array(entry.text)[range]))
  }

  /// What the origin has been told to compare with, by the cache and not by the caller (section 4.3.1).
  func isConditional(_ entry: Entry, _ request: Request) -> Bool {
    !request.isHead && request.tag == nil && request.range == nil && request.policy != .reload
      && !request.control.has("no-store")
  }

  /// Sections 3 and 5.2.2.5.
  mutating func store(_ key: Key, _ text: String, _ tag: String, _ control: String, age: Int64, now: Int64) {
    entries[key] =
      Control(control).has("no-store")
      ? nil : Entry(text: text, tag: tag, control: control, receivedAt: now, ageAtReceipt: age * 1000)
  }

  /// A 304 or a HEAD says more of what is stored (sections 3.2, 4.3.4 and 4.3.5).
  mutating func renew(_ key: Key, _ control: String, age: Int64, now: Int64) {
    guard let entry = entries[key] else { return }
    store(key, entry.text, entry.tag, control.isEmpty ? entry.control : control, age: age, now: now)
  }
}
