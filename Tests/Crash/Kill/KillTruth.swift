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
  /// What should not have been said: told to one process twice, told after another ending, told again without a word of that,
  /// or without any sense.
  private(set) var wrongWords: [String] = []
  private var toldNow: Set<UInt64> = []
  /// Letters that this worker has revived before it was told of their death: that word may come later.
  private var backNow: Set<UInt64> = []

  /// What one worker said.
  mutating func hear(_ text: String) {
    (toldNow, backNow) = ([], [])
    // Everything is said in one piece, so there is no half line.
    for line in text.split(separator: "\n") { hear(line: line) }
  }

  private mutating func hear(line: Substring) {
    let words = line.split(separator: " ")
    guard words.count >= 2, let id = UInt64(words[1]), id > 0 else {
      return wrongWords.append("nobody asked for: \(line)")
    }
    var promise = promises[id] ?? Promise()
    switch words[0] {
    case "ACK" where words.count == 5:
      (promise.key, promise.digest, promise.path) = (String(words[2]), String(words[3]), String(words[4]))
    case "TERM" where words.count == 4:
      judge(line, id, wasTold: !promise.outcomes.isEmpty, wasToldElse: promise.isDead)
      promise.outcomes.append(Int(words[2]) ?? 0)
    case "DEAD" where words.count == 4:
      if backNow.remove(id) != nil { break }
      judge(line, id, wasTold: promise.isDead, wasToldElse: !promise.outcomes.isEmpty)
      promise.isDead = true
    case "BACK" where words.count == 3:
      promise.isDead = false
      if toldNow.remove(id) == nil { backNow.insert(id) }
      revived.insert(String(words[2]))
    case "LEFT": promise.isDead = true
    default: wrongWords.append("nobody asked for: \(line)")
    }
    promises[id] = promise
  }

  /// Looks at the word of an ending. A handler must be able to know that it may have run before.
  private mutating func judge(_ line: Substring, _ id: UInt64, wasTold: Bool, wasToldElse: Bool) {
    if !toldNow.insert(id).inserted {
      wrongWords.append("told twice to one process: \(line)")
    } else if wasToldElse {
      wrongWords.append("told another ending: \(line)")
    } else if wasTold, !line.hasSuffix(" again") {
      wrongWords.append("told again, and not said so: \(line)")
    }
  }

  /// All is settled.
  mutating func forget() {
    promises = [:]
    revived = []
    wrongWords = []
  }
}
#endif
