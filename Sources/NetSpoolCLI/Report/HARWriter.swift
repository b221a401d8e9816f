import Dispatch
import Glibc
import NetSpool
import Synchronization

/// `--har`: writes an HTTP archive while a job runs, in bounded memory. The file is whole JSON after each flush: its end is
/// written behind the entries, and over it the next ones.
final class HARWriter: Sendable {
  private struct State {
    var file: OutputPlace
    var entries: [UInt8] = []
    var isEmpty = true
    var failure: IOFailure?
  }

  private static let head = Array(
    """
    {"log":{"version":"1.2","creator":{"name":"netspool","version":"\(NetSpoolTool.version)"},"entries":[

    """.utf8)
  private static let tail = Array("\n]}}\n".utf8)
  private static let flushBytes = 65_536

  private let state: Mutex<State>
  /// The loop does not wait for the disk.
  private let queue = DispatchQueue(label: "netspool.har")

  /// Begins an empty archive, for its owner's eyes only.
  init(_ path: String) throws(IOFailure) {
    var file = try OutputPlace(path)
    try file.write(Self.head, end: Self.tail)
    state = Mutex(State(file: file))
  }

  /// For an engine's `onEnd`, with its fields. A watch has seen the heads, where there is one exchange at a time.
  func record(_ defaults: NetworkRequest.Headers, _ watch: WireWatch? = nil)
    -> @Sendable (NetworkOperation, Result<NetworkResponse, NetworkError>, NetworkResponse.Metrics) -> Void
  {
    { [self] operation, result, metrics in
      let entry = HAREntry(
        request: operation.request, defaults: defaults, result: result, metrics: metrics, ended: WallTime.now,
        heads: HAREntry.heads(watch?.seen.heads ?? []))
      if entry.isWorthKeeping { queue.async { [self] in add(entry) } }
    }
  }

  private func add(_ entry: HAREntry) {
    state.withLock { state in
      guard state.failure == nil else { return }
      if !state.isEmpty { state.entries += Array(",\n".utf8) }
      state.isEmpty = false
      state.entries += entry.json
      if state.entries.count >= Self.flushBytes { Self.flush(&state) }
    }
  }

  /// Writes what there is, and says whether anything could not be written. No operation may end any more.
  func close() -> IOFailure? {
    queue.sync {}
    return state.withLock { state in
      Self.flush(&state)
      if state.failure == nil {
        do throws(IOFailure) { try state.file.finish(Self.tail) } catch { state.failure = error }
      }
      return state.failure
    }
  }

  private static func flush(_ state: inout State) {
    guard state.failure == nil else { return }
    do throws(IOFailure) { try state.file.write(state.entries, end: tail) } catch { state.failure = error }
    state.entries.removeAll(keepingCapacity: true)
  }
}

/// A file whose end is written again and again; what goes into a pipe has its end once.
struct OutputPlace {
  private let file: SharedDescriptor
  private let isPipe: Bool
  private var offset: Int64 = 0

  init(_ path: String) throws(IOFailure) {
    if path == "-" {
      isPipe = true
      file = SharedDescriptor(Descriptor(borrowing: 1, named: "standard output"))
      return
    }
    let descriptor = try Descriptor(opening: path, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
    // The mode of a device is everybody's business.
    if descriptor.status?.isPlainFile == true {
      guard fchmod(descriptor.number, 0o600) == 0 else { throw .last("make private", path) }
    }
    isPipe = lseek(descriptor.number, 0, SEEK_CUR) < 0
    file = SharedDescriptor(descriptor)
  }

  /// Goes on where the last call did, and writes an end that the next one overwrites.
  mutating func write(_ bytes: [UInt8], end: [UInt8]) throws(IOFailure) {
    if isPipe { return try file.descriptor.write(bytes) }
    guard lseek(file.descriptor.number, Int(offset), SEEK_SET) >= 0 else {
      throw .last("write", file.descriptor.path)
    }
    do throws(IOFailure) { try file.descriptor.write(bytes + end) } catch {
      // What was whole before is so again, if there is room for its end.
      try? file.descriptor.resize(to: Int(offset))
      lseek(file.descriptor.number, Int(offset), SEEK_SET)
      try? file.descriptor.write(end)
      throw error
    }
    offset += Int64(bytes.count)
  }

  /// Nothing follows.
  func finish(_ end: [UInt8]) throws(IOFailure) { if isPipe { try file.descriptor.write(end) } }
}
