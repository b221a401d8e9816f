import NetSpool
import Synchronization

/// The bodies that are on their way, for the progress lines.
final class TransferBoard: Sendable {
  struct Entry: Sendable {
    let name: String
    var bytes: Int64
    var total: Int64?
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var nextID = 0
  }

  private let state = Mutex(State())

  /// Bodies that are shorter are gone before anybody has read their names.
  static let shownBytesMin: Int64 = 4 << 20

  /// Returns those that are to be shown, the largest first.
  func largest(_ count: Int, from bytesMin: Int64 = shownBytesMin) -> [(id: Int, entry: Entry)] {
    let entries = state.withLock { $0.entries }
    let long = entries.filter { ($0.value.total ?? $0.value.bytes) >= bytesMin }
    let sorted = long.sorted { ($0.value.total ?? 0, $1.key) > ($1.value.total ?? 0, $0.key) }
    return sorted.prefix(count).map { (id: $0.key, entry: $0.value) }
  }

  /// All of them, ended ones left out.
  var bytes: Int64 { state.withLock { $0.entries.values.reduce(0) { $0 + $1.bytes } } }

  func begin(_ name: String, bytes: Int64, total: Int64?) -> Int {
    state.withLock { state in
      state.nextID += 1
      state.entries[state.nextID] = Entry(name: name, bytes: bytes, total: total)
      return state.nextID
    }
  }

  func add(_ bytes: Int, to id: Int) { state.withLock { $0.entries[id]?.bytes += Int64(bytes) } }
  func end(_ id: Int) { state.withLock { $0.entries[id] = nil } }
}

extension WatchingStream {
  func open(_ head: ResponseHead, bytesExpected: Int64?) {}
  func write(_ bytes: RawSpan) -> WriteResult { .accepted }
  func close(_ outcome: Result<Void, NetworkError>) {}
}

final class TapStream: WatchingStream {
  private let board: TransferBoard
  private let name: String
  /// Where a body goes on that broke off; 0 for others. Asked once its head is there.
  private let offset: @Sendable () -> Int64
  private let id = Atomic(0)

  init(_ board: TransferBoard, name: String, offset: @escaping @Sendable () -> Int64 = { 0 }) {
    (self.board, self.name, self.offset) = (board, name, offset)
  }

  func open(_ head: ResponseHead, bytesExpected: Int64?) {
    let start = head.status == 206 ? offset() : 0
    id.store(board.begin(name, bytes: start, total: bytesExpected.map { $0 + start }), ordering: .relaxed)
  }

  func write(_ bytes: RawSpan) -> WriteResult {
    board.add(bytes.byteCount, to: id.load(ordering: .relaxed))
    return .accepted
  }

  func close(_ outcome: Result<Void, NetworkError>) { board.end(id.load(ordering: .relaxed)) }
}
