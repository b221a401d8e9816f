internal import Dispatch

/// Frozen requests for programs that show a store to people.
extension NetworkEngine {
  /// Blocks until nothing of the store is being written or sent, or the deadline has passed. Not on a delivery target.
  @discardableResult
  package func settleFrozen(deadline seconds: Double) -> Bool {
    guard let freezing = freezing else { return true }
    let done = DispatchSemaphore(value: 0)
    freezing.whenStill { done.signal() }
    return done.wait(timeout: .now() + seconds) == .success
  }

  /// What the directory of the store held when it was opened. Nil without a store.
  package var frozenStoreFinding: FrozenStoreFinding? {
    freezing.map { FrozenStoreFinding($0.freezer.store.opening.found) }
  }
}

/// What stands in the directory of a store of frozen requests.
package enum FrozenStoreFinding: Sendable, Hashable {
  case nothing
  case whole
  /// No store, or a damaged one. `movedTo`: its name in the directory once it was put aside.
  case damaged(why: String, movedTo: String?)

  init(_ core: EnvironmentOpening.Found) {
    switch core {
    case .nothing: self = .nothing
    case .whole, .inUse, .outdated: self = .whole
    case .damaged(let movedTo, let why): self = .damaged(why: why, movedTo: movedTo.isEmpty ? nil : movedTo)
    }
  }

  /// Looks without changing anything. The directory must be there; throws what opening it would.
  package static func inspect(_ directory: String) throws(NetworkError) -> FrozenStoreFinding {
    FrozenStoreFinding(try FrozenStore.inspect(FrozenStoreSettings(directory: directory)))
  }
}
