#if DEBUG
/// What the workers said, read when none of them lives. Requests that are settled are forgotten.
struct KillTruth {
  struct Promise {
    var key = ""
    var digest = ""
    var path = ""
    /// The statuses of the outcomes that were told.
    var outcomes: [Int] = []
    var isDead = false
  }

  private(set) var promises: [UInt64: Promise] = [:]
  /// Paths of those that were dead for a time: their turn in the lane is over.
  private(set) var revived: Set<String> = []
  /// Told to one process twice, told after it was dead, or told again without a word of that.
  private(set) var doubles = 0
  /// Lines that make no sense.
  private(set) var nonsense: [String] = []
  private var toldNow: Set<UInt64> = []

  /// What one worker said.
  mutating func hear(_ text: String) {
    toldNow = []
    // Everything is said in one piece, so there is no half line.
    for line in text.split(separator: "\n") { hear(line: line) }
  }

  private mutating func hear(line: Substring) {
    let words = line.split(separator: " ")
    guard words.count >= 2, let id = UInt64(words[1]), id > 0 else {
      nonsense.append(String(line))
      return
    }
    var promise = promises[id] ?? Promise()
    switch words[0] {
    case "ACK" where words.count == 5:
      (promise.key, promise.digest, promise.path) = (String(words[2]), String(words[3]), String(words[4]))
    case "TERM" where words.count == 4:
      // A handler must be able to know that it may have run before.
      let isUnannounced = !promise.outcomes.isEmpty && words[3] != "again"
      if !toldNow.insert(id).inserted || promise.isDead || isUnannounced { doubles += 1 }
      promise.outcomes.append(Int(words[2]) ?? 0)
    case "DEAD":
      if !promise.outcomes.isEmpty || promise.isDead { doubles += 1 }
      promise.isDead = true
    case "BACK" where words.count == 3:
      promise.isDead = false
      revived.insert(String(words[2]))
    case "LEFT": promise.isDead = true
    default: nonsense.append(String(line))
    }
    promises[id] = promise
  }

  /// All is settled.
  mutating func forget() {
    promises = [:]
    revived = []
    doubles = 0
    nonsense = []
  }
}
#endif
