#if DEBUG
/// What a process had said when the power went, and so what must be there.
struct PowerTruth {
  struct Promise {
    /// Nil: its end was heard of, but not its beginning.
    var key: String?
    var digest: String?
    var isFinished = false
    var isDead = false
    /// Somebody was about to forget it.
    var mayBeGone = false
  }

  private(set) var promises: [UInt64: Promise] = [:]
  private(set) var failure: String?

  mutating func hear(_ text: String) {
    for line in text.split(separator: "\n") { hear(line: line.split(separator: " ")) }
  }

  private mutating func hear(line words: [Substring]) {
    guard words.count >= 2, let number = UInt64(words[1]) else {
      failure = words.joined(separator: " ")
      return
    }
    var promise = promises[number] ?? Promise()
    switch words[0] {
    case "ACK": (promise.key, promise.digest) = (String(words[2]), String(words[3]))
    case "TERM": promise.isFinished = true
    case "DEAD": promise.isDead = true
    case "GONE", "DROP": promise.mayBeGone = true
    case "BACK": promise.isDead = false
    default: failure = words.joined(separator: " ")
    }
    promises[number] = promise
  }

  var acknowledged: Int { promises.values.count { $0.key != nil } }
}
#endif
