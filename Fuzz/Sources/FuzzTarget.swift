internal import Synchronization

/// One thing that hostile bytes reach. It traps when a promise is broken; that it does not crash is the least.
struct FuzzTarget: Sendable {
  /// As `Fuzz/run` and the folder of its corpus call it.
  let name: String
  let run: @Sendable ([UInt8]) -> Void

  static let all: [FuzzTarget] = [
    FuzzTarget(name: "head", run: HeadTarget.run),
    FuzzTarget(name: "field", run: FieldTarget.run),
    FuzzTarget(name: "exchange", run: ExchangeTarget.run),
    FuzzTarget(name: "url", run: URLTarget.run),
    FuzzTarget(name: "record", run: RecordTarget.run),
    FuzzTarget(name: "entry", run: EntryTarget.run),
    FuzzTarget(name: "store", run: StoreTarget.run),
    FuzzTarget(name: "inflate", run: InflateTarget.run),
    FuzzTarget(name: "body", run: BodyTarget.run),
    FuzzTarget(name: "challenge", run: ChallengeTarget.run),
    FuzzTarget(name: "curl", run: CurlTarget.run),
    FuzzTarget(name: "image", run: ImageTarget.run),
    FuzzTarget(name: "mask", run: MaskTarget.run),
    FuzzTarget(name: "netlink", run: NetlinkTarget.run),
    FuzzTarget(name: "transfer", run: TransferTarget.run),
    FuzzTarget(name: "redirect", run: RedirectTarget.run),
    FuzzTarget(name: "calls", run: CallsTarget.run),
  ]

  private static let chosen = Atomic(0)

  /// False when there is no such target.
  static func choose(_ name: String) -> Bool {
    guard let index = all.firstIndex(where: { $0.name == name }) else { return false }
    chosen.store(index, ordering: .relaxed)
    return true
  }

  static func run(_ bytes: [UInt8]) { all[chosen.load(ordering: .relaxed)].run(bytes) }
}

/// The promise; a sentence, since it is all that the report of a crash shows.
@inline(__always)
func require(_ isKept: @autoclosure () -> Bool, _ promise: @autoclosure () -> String) {
  if !isKept() { broken(promise()) }
}

func broken(_ promise: String) -> Never { fatalError("broken promise: \(promise)") }

extension String {
  /// By bytes: `contains` goes by characters, and takes longer for them than what is tested.
  func holds(_ word: String) -> Bool {
    let (bytes, word) = (Array(utf8), Array(word.utf8))
    return bytes.indices.dropLast(word.count - 1).contains {
      bytes[$0] == word[0] && bytes[$0...].starts(with: word)
    }
  }
}
