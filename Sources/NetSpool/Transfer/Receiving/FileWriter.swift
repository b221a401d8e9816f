internal import Glibc

/// Writes one file: beside its final place, and there only once it is whole. Blocks; for worker threads.
///
/// The body goes to a `WorkingFile` in the target's directory, readable by its owner only, and gets its name and
/// permissions in `publish()`. Of a value that ends unpublished nothing stays.
/// A new file is not synced: a body can be fetched again, and 10,000 thumbnails would take 10,000 disk flushes. One that
/// replaces another is, as that one may be all there is.
struct FileWriter: ~Copyable, Sendable {
  /// Says what becomes of a file that has the name already.
  enum Placement: Sendable {
    /// The file is replaced in one step, its permissions kept; a symbolic link is refused (ELOOP).
    case replace
    /// The file stays, and the writer fails with EEXIST.
    case createNew
    /// The whole body is put behind it. A missing file is made.
    case append
  }

  private let target: FileTarget
  private var working: WorkingFile
  private var direct: DirectWriting
  /// The offset in the file at which the next byte goes.
  private(set) var offset: Int64 = 0
  /// Blocks are set aside up to here.
  private let reservedEnd: Int64

  /// Opens the directory and creates the working file.
  /// - Parameters:
  ///   - bytesExpected: the body's length where known; a long one goes past the page cache.
  ///   - isUnnamed: see `WorkingFile`.
  init(
    _ target: FileTarget, placement: Placement = .replace, bytesExpected: Int64? = nil, isUnnamed: Bool = true
  ) throws(SinkFailure) {
    self.target = target
    let reserved = bytesExpected.map { $0 >= DirectWriting.bytesMin ? $0 : 0 } ?? 0
    do {
      let working = try WorkingFile(target, placement, isUnnamed: isUnnamed)
      if reserved > 0 { try working.reserve(reserved) }
      self.working = working
    } catch { throw SinkFailure("could not open", target, error) }
    reservedEnd = reserved
    direct = DirectWriting(bytesExpected: bytesExpected)
  }

  /// Writes all of the bytes.
  mutating func write(_ bytes: RawSpan) throws(SinkFailure) {
    var done = 0
    while done < bytes.byteCount {
      do {
        done += try writeSome(bytes, from: done)
      } catch { throw SinkFailure("could not write to", target, error) }
    }
  }

  /// Writes what one call takes; none when the file system has just refused direct writes.
  private mutating func writeSome(_ bytes: RawSpan, from start: Int) throws(SystemError) -> Int {
    let rest = bytes.byteCount - start
    let count = direct.prepare(working.file, offset: offset, start: start, count: rest)
    do throws(SystemError) {
      let written = try working.file.write(bytes, from: start, count: count, at: offset)
      guard written > 0 else { throw SystemError(number: EIO, call: "pwrite") }
      offset += Int64(written)
      return written
    } catch {
      guard direct.isOn && error.number == EINVAL else { throw error }
      direct.refuse(working.file)
      return 0
    }
  }

  /// The body is whole: gives the file its permissions and its name.
  consuming func publish() throws(SinkFailure) {
    let target = target
    do {
      if offset < reservedEnd { try working.file.truncate(to: offset) }
      try working.publish(offset)
    } catch { throw SinkFailure("could not finish", target, error) }
  }
}

/// The place of a file: a directory and a name in it.
struct FileTarget: Sendable, Equatable {
  /// As the caller wrote it.
  let path: String
  let directory: String
  let name: String

  /// Throws EINVAL for an empty path, one with a NUL byte in it and a name of ours, and EISDIR for one that
  /// can only be a directory's.
  init(_ path: String) throws(SinkFailure) {
    let (directory, name) = Self.split(path)
    self.path = path
    self.directory = directory
    self.name = name
    if path.isEmpty || path.utf8.contains(0) {
      throw SinkFailure("could not open", self, SystemError(number: EINVAL, call: "open"))
    }
    if name.isEmpty || name == "." || name == ".." {
      throw SinkFailure("could not open", self, SystemError(number: EISDIR, call: "open"))
    }
    if Self.isOurs(name) {
      throw SinkFailure(errno: EINVAL, reason: "could not open \(path): the name is one of NetSpool's own")
    }
  }

  /// What stands behind `.netspool-` in the names of files beside a target, also where the file system does
  /// not tell large letters from small ones. A body of that name would be taken for what such a file holds.
  private static func isOurs(_ name: String) -> Bool {
    let mark = Array(".netspool-".utf8)
    let bytes = name.utf8.map(\.asciiLowercased)
    guard let start = bytes.indices.last(where: { bytes[$0...].starts(with: mark) }) else { return false }
    let purpose = bytes[(start + mark.count)...].prefix { $0 != UInt8(ascii: "-") }
    return ["part", "validator", "new", "spool"].contains { purpose.elementsEqual($0.utf8) }
  }

  private static func split(_ path: String) -> (directory: String, name: String) {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
    let name = String(path[path.utf8.index(after: slash)...])
    return (slash == path.startIndex ? "/" : String(path[..<slash]), name)
  }

  /// A hidden name beside the target: `.name.netspool-` and what the file is for.
  func hiddenName(_ purpose: String) -> String {
    var stem = name
    // A name may have 255 bytes; the rest of ours takes up to 34.
    while stem.utf8.count > 200 { stem.removeLast() }
    return ".\(stem).netspool-\(purpose)"
  }
}
