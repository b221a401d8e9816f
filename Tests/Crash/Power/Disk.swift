#if DEBUG
@testable import TestSupport

/// A file system that keeps what it was told to sync, and of the rest whatever it likes: the names of a directory
/// only once the directory was synced, the bytes of a file once the file was.
struct Disk {
  private enum Entry {
    case directory
    case file(Int)
  }

  private enum NameChange {
    case add(String, Entry)
    case remove(String)
    case rename(String, String)
  }

  /// A file's number is given again when the file is gone; ours are not.
  private var numbers: [UInt64: Int] = [:]
  private var files: [DiskFile] = []
  private var names: [String: Entry] = [:]
  private var pending: [(directory: String, change: NameChange)] = []
  /// What it says it has synced and has not: promises must break then, or the checks are worth nothing.
  var lie: DiskLie?

  mutating func take(_ event: Trace.Event) {
    switch event {
    case .written(let file, let offset, let bytes):
      change(file) { $0.add(.write(offset: offset, bytes: bytes)) }
    case .truncated(let file, let length): change(file) { $0.add(.truncate(length)) }
    case .synced(let file): if lie != .data { change(file) { $0.sync() } }
    case .landed(let file, let offset, let count):
      if lie != .meta { change(file) { $0.sync(offset..<offset + count) } }
    case .created(let file, let path): create(file, path)
    case .removed(let path): rename(path, .remove(path))
    case .renamed(let from, let to): rename(from, .rename(from, to))
    case .made(let path): rename(path, .add(path, .directory))
    case .listed(let path): if lie != .names { list(path) }
    case .said: break
    }
  }

  private mutating func change(_ file: UInt64, _ body: (inout DiskFile) -> Void) {
    if let number = numbers[file] { body(&files[number]) }
  }

  private mutating func create(_ file: UInt64, _ path: String) {
    numbers[file] = files.count
    rename(path, .add(path, .file(files.count)))
    files.append(DiskFile())
  }

  // MARK: Names

  private mutating func rename(_ path: String, _ change: NameChange) {
    pending.append((Self.parent(path), change))
  }

  private mutating func list(_ path: String) {
    for (_, change) in pending.filter({ $0.directory == path }) { Self.apply(change, &names) }
    pending.removeAll { $0.directory == path }
  }

  private static func parent(_ path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
  }

  private static func apply(_ change: NameChange, _ names: inout [String: Entry]) {
    switch change {
    case .add(let path, let entry): names[path] = entry
    case .remove(let path): names[path] = nil
    case .rename(let from, let to): names[to] = names.removeValue(forKey: from)
    }
  }

  // MARK: The power goes

  /// Writes into an empty directory what may be left. A directory has the first of its changes, or more, or all.
  func crash(into folder: String, _ choice: CrashChoice, using random: inout SplitMix64) throws {
    var left = names
    var isOver: Set<String> = []
    for (directory, change) in pending where !isOver.contains(directory) {
      if random.unit() < choice.share { Self.apply(change, &left) } else { isOver.insert(directory) }
    }
    for (path, entry) in left.sorted(by: { $0.key < $1.key }) where Self.isReachable(path, left) {
      switch entry {
      case .directory: try TestFiles.makeDirectory("\(folder)/\(path)")
      case .file(let number):
        try TestFiles.write(files[number].crashed(choice, using: &random), to: "\(folder)/\(path)")
      }
    }
  }

  private static func isReachable(_ path: String, _ names: [String: Entry]) -> Bool {
    let parent = parent(path)
    if parent.isEmpty { return true }
    guard case .directory? = names[parent] else { return false }
    return isReachable(parent, names)
  }
}

/// What a disk may say that is not so.
enum DiskLie: String, CaseIterable {
  /// fdatasync(2) and fsync(2) of a file do nothing.
  case data
  /// O_DSYNC, with which LMDB writes its meta pages, means nothing.
  case meta
  /// fsync(2) of a directory does nothing.
  case names
}
#endif
