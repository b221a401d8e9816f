#if DEBUG
import Glibc
@testable import NetSpool
@testable import TestSupport

/// The one who is never killed: starts workers, kills them, keeps what they said and what the origin saw, and judges.
final class CrashBench {
  let folder: TestFolder
  let origin: JournalingOrigin
  var random: SplitMix64
  private(set) var check = KillCheck()
  private(set) var kills = 0
  private(set) var workers = 0
  private var truth = KillTruth()

  init(seed: UInt64, base: String) throws {
    folder = try TestFolder(in: base)
    random = SplitMix64(seed: seed)
    origin = try JournalingOrigin(seed: seed ^ 0x0412, journal: folder["journal"])
  }

  /// One life. `failpoint`: where it kills itself. Nil when it had to be killed after so many milliseconds.
  @discardableResult
  func live(milliseconds: Int32, load: Int = 60, failpoint: String? = nil) throws -> CrashChild.End? {
    let environment = failpoint.map { ["NETSPOOL_FAILPOINT=\($0)"] } ?? []
    let worker = try start(["--load", "\(load)"], environment)
    let end = worker.wait(milliseconds: milliseconds)
    if end == nil || end == .signal(SIGKILL) { kills += 1 }
    worker.kill()
    hear()
    if let end, end != .signal(SIGKILL) { check.note("worker \(workers) ended by itself: \(end)") }
    return end
  }

  func neverCame(to place: String) { check.note("worker \(workers) never came to \(place)") }

  private func start(_ arguments: [String], _ environment: [String] = []) throws -> CrashChild {
    workers += 1
    return try CrashChild(
      [
        "worker", "--port", "\(origin.port)", "--directory", folder["store"], "--name", "\(workers)",
        "--seed", "\(random.next())",
      ] + arguments, environment: environment, output: folder["said"])
  }

  private func hear() {
    let said = CrashFiles.read(folder["said"])
    unsafe unlink(folder["said"])
    truth.hear(String(decoding: said, as: UTF8.self))
  }

  // MARK: The reckoning

  /// Lets a last worker send everything to a healthy origin, and looks.
  func settle() throws {
    origin.setHealthy(true)
    let worker = try start(["--load", "0", "--drain", "300"])
    let end = worker.wait(milliseconds: 330_000)
    worker.kill()
    hear()
    if end != .status(0) {
      check.note("worker \(workers) could not drain: \(end.map { "\($0)" } ?? "hangs")")
    }
    check.look(truth, origin.takeArrivals()) { origin.effect($0) }
    truth.forget()
    try lookAtStore()
    origin.setHealthy(false)
    if check.counts.broken > 0 { folder.keep() }
  }

  private func lookAtStore() throws {
    let store: FrozenStore
    do { store = try FrozenStore.open(FrozenStoreSettings(directory: folder["store"])) } catch {
      return check.note("the store does not open: \(error)")
    }
    defer { store.close() }
    if store.opening.found != .whole { check.note("the store was \(store.opening.found)") }
    if !store.damaged.isEmpty { check.note("damaged rows: \(store.damaged)") }
    let seen = try FrozenTablesSeen(store)
    if !seen.isConsistent { check.note("the tables do not hold the same requests") }
    if !seen.rec.isEmpty { check.note("\(seen.rec.count) requests wait after the drain") }
    if !seen.outbox.isEmpty { check.note("\(seen.outbox.count) outcomes were not acknowledged") }
  }

  // MARK: The verdict

  /// Prints it; false when a promise was broken.
  func report(_ title: String) -> Bool {
    let counts = check.counts
    for fault in check.faults { CrashFiles.say("  \(fault)") }
    if counts.broken > 0 { CrashFiles.say("  all is left in \(folder.path)") }
    CrashFiles.say(
      "\(title), \(kills) kills, \(counts.accepted) accepted, \(counts.arrivals) arrivals, "
        + "\(counts.duplicates) of them again, \(counts.repeated) told again: "
        + "lost \(counts.lost), second keys \(counts.secondKeys), wrong bytes \(counts.wrongBytes), "
        + "effects missing or twice \(counts.effects), out of order \(counts.order), "
        + "told wrongly \(counts.double), store \(counts.store)")
    return counts.broken == 0
  }
}
#endif
