/// A store of frozen requests that was not what had been written when it was opened. Nothing that was accepted is deleted:
/// what is whole goes on, the rest is kept for whoever can read it.
public struct FrozenStoreDamage: Sendable, Hashable {
  /// What is wrong with the file; nil when only single requests were damaged.
  public let reason: String?
  /// The path to which the file was moved; nil when only single requests were damaged. It is never removed.
  public let movedTo: String?
  /// How many requests, outcomes and dead letters were whole in that file, and are in the new store.
  public let salvaged: Int
  /// The numbers of requests whose bytes were not what was written: dead letters now (`.storeCorrupt`).
  public let damaged: [UInt64]

  /// Nil when the store was whole.
  init?(_ store: FrozenStore) {
    damaged = store.damaged
    salvaged = store.salvaged.found
    if case .damaged(let name, let why) = store.opening.found {
      reason = why
      movedTo = "\(store.settings.directory)/\(name)"
    } else {
      (reason, movedTo) = (nil, nil)
      if damaged.isEmpty { return nil }
    }
  }

  /// For those who have not asked to be told.
  var failure: NetworkError {
    let text = movedTo.map { "\(reason ?? "damage"), moved to \($0), \(salvaged) whole" }
    return NetworkError(.storeCorrupt, reason: text ?? "\(damaged.count) requests")
  }
}
