import Synchronization

#if !MODEL_PROGRAM
@testable import NetSpool
@testable import TestSupport
#endif

/// A store of frozen requests in a model. It has threads of its own, so that not all that happens there follows from the
/// schedule's number, and what it does takes real time.
struct ModelFreezing {
  private let engine: NetworkEngine
  private let freezing: EngineFreezing

  init(_ engine: NetworkEngine, directory: String) throws {
    var configuration = FreezeConfiguration()
    configuration.directory = directory
    configuration.backoffBase = .zero
    configuration.attemptsMax = 3
    try engine.useFreezing(configuration)
    self.engine = engine
    freezing = try engine.freezingOrDefault()
  }

  /// Nothing is being written or sent, as soon as that is so.
  func awaitStill() -> Stillness {
    let stillness = Stillness()
    freezing.whenStill { stillness.isThere.store(true, ordering: .releasing) }
    return stillness
  }

  final class Stillness: Sendable {
    let isThere = Atomic(false)
  }

  /// What the store has of requests whose operations have all ended.
  var left: Int { engine.frozenOperations.count }

  /// Requests that were given up, which it keeps until they are discarded.
  func forgetDead() {
    for letter in engine.deadLetters { engine.discardDeadLetter(id: letter.id) }
  }
}
