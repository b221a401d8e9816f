internal import Glibc
internal import Synchronization

/// The part on the worker: opened by the first job, published by the last. Blocks.
final class PartWriter: FileSinkWork {
  enum Start: Sendable {
    /// From a byte of what is there; the bytes before `until` are compared.
    case goingOn(Int64, until: Int64, total: Int64?)
    case beginning(PartNote)
  }

  fileprivate struct Open: ~Copyable {
    let directory: FileDescriptor
    var file: FileDescriptor
    var offset: Int64
    /// Where what was there ends.
    let known: Int64
    var digest: SHA256?
    let permissions: UInt32
  }

  private struct State: ~Copyable, FailingWriter {
    var open: Open?
    var failure: SinkFailure?

    mutating func giveUp() { open = nil }
  }

  private let target: FileTarget
  private let start: Start
  private let digests: Bool
  private let expected: [UInt8]?
  private let state = Mutex(State())
  private let bytesHashed = Atomic<Int64>(0)

  init(_ target: FileTarget, _ start: Start, digests: Bool, expected: [UInt8]? = nil) {
    (self.target, self.start, self.digests, self.expected) = (
      target, start, digests || expected != nil, expected
    )
  }

  func write(_ buffer: AlignedBuffer) -> SinkFailure? {
    state.withLock { state in state.attempt { state throws(SinkFailure) in try add(buffer, to: &state) } }
  }

  func finish(_ last: AlignedBuffer?) -> Result<[UInt8]?, SinkFailure> {
    state.withLock { state in
      var digest: [UInt8]?
      let failure = state.attempt { state throws(SinkFailure) in
        try add(last, to: &state)
        digest = try publish(&state)
      }
      return failure.map { .failure($0) } ?? .success(digest)
    }
  }

  var keepsParts: Bool { true }
  var progress: Int64 { bytesHashed.load(ordering: .relaxed) }

  /// The part stays where its validator tells what it is of.
  func abandon(_ last: AlignedBuffer?) {
    state.withLock { state in
      _ = state.attempt { state throws(SinkFailure) in try add(last, to: &state) }
      let hasValidator = if case .beginning(let note) = start { note.validator != nil } else { true }
      if !hasValidator, let directory = try? FileDescriptor.directory(target.directory) {
        directory.unlink(target.partName)
        directory.unlink(target.validatorName)
      }
      state.open = nil
    }
  }

  /// A part that nothing fits to.
  static func discard(_ target: FileTarget) {
    guard let directory = try? FileDescriptor.directory(target.directory),
      PartNote(of: target, in: directory) != nil
    else { return }
    directory.unlink(target.partName)
    directory.unlink(target.validatorName)
  }

  private func add(_ buffer: AlignedBuffer?, to state: inout State) throws(SinkFailure) {
    do {
      if state.open == nil { state.open = try opened() }
    } catch {
      throw failure("could not open", error)
    }
    try buffer?.withBytes { bytes throws(SinkFailure) in
      var fits: Bool?
      do throws(SystemError) {
        fits = try state.open?.take(bytes)
      } catch {
        throw failure("could not write to", error)
      }
      if fits == false { throw mismatch("what is there ends with other bytes") }
    }
  }

  private func failure(_ doing: String, _ error: SystemError) -> SinkFailure {
    var failure = SinkFailure("\(doing) the part of", target, error)
    failure.cause = .part
    return failure
  }

  /// Gone on with it would be wrong again.
  private func mismatch(_ reason: String) -> SinkFailure {
    Self.discard(target)
    return SinkFailure(
      reason: "the rest does not belong to the part of \(target.path): \(reason)", code: .resumeMismatch)
  }

  private func opened() throws(SystemError) -> Open {
    let directory = try FileDescriptor.directory(target.directory)
    let existing = FileStatus(named: target.name, in: directory)
    switch existing?.kind {
    case nil, .regular?: break
    case .directory?: throw SystemError(number: EISDIR, call: "open")
    case .symlink?: throw SystemError(number: ELOOP, call: "open")
    default: throw SystemError(number: ENOTSUP, call: "open")
    }
    let file = try FileDescriptor(
      opening: target.partName, in: directory, flags: O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK)
    try file.lock(patience: 0)
    let status = try FileStatus(of: file)
    let isOurs = status.bytes == 0 || PartNote(of: target, in: directory) != nil
    guard status.isRegular, status.owner == geteuid(), isOurs else {
      throw SystemError(number: EEXIST, call: "open")
    }
    let (offset, known) =
      if case .goingOn(let offset, let known, _) = start { (offset, known) } else { (0, 0) }
    var open = Open(
      directory: directory, file: file, offset: offset, known: known, digest: digests ? SHA256() : nil,
      permissions: existing?.permissions ?? SystemText.newFilePermissions)
    guard status.bytes >= known else { throw SystemError(number: ESTALE, call: "open") }
    try open.file.truncate(to: known)
    if case .beginning(let note) = start { try note.write(for: target, in: open.directory) }
    if digests { try open.hashStart { bytesHashed.store($0, ordering: .relaxed) } }
    return open
  }

  private func publish(_ state: inout State) throws(SinkFailure) -> [UInt8]? {
    guard var open = state.open.take() else { return nil }
    let total =
      switch start {
      case .goingOn(_, _, let total): total
      case .beginning(let note): note.total
      }
    if let total, total != open.offset {
      throw SinkFailure(
        reason: "\(target.path) has \(open.offset) bytes instead of \(total)", code: .resumeMismatch)
    }
    guard open.offset >= open.known else { throw mismatch("it is longer than the whole") }
    let digest = open.digest?.finish()
    if let failure = SinkFailure(of: target, digest, expected: expected) {
      // Gone on with it would be wrong again.
      Self.discard(target)
      throw failure
    }
    do throws(SystemError) {
      try open.file.setPermissions(open.permissions)
      try open.file.close()
      try open.directory.rename(target.partName, to: target.name)
      open.directory.unlink(target.validatorName)
    } catch {
      throw SinkFailure("could not finish", target, error)
    }
    return digest
  }
}

extension PartWriter.Open {
  /// Compares what is there and writes what is not; false where what is there has other bytes.
  fileprivate mutating func take(_ bytes: RawSpan) throws(SystemError) -> Bool {
    var done = Int(min(Int64(bytes.byteCount), max(0, known - offset)))
    if done > 0 {
      let there = try PartBytes.read(file, at: offset, atMost: done)
      guard there == Array(bytes.extracting(first: done)) else { return false }
      offset += Int64(done)
    }
    while done < bytes.byteCount {
      let written = try file.write(bytes, from: done, count: bytes.byteCount - done, at: offset)
      guard written > 0 else { throw SystemError(number: EIO, call: "pwrite") }
      done += written
      offset += Int64(written)
    }
    digest?.update(bytes)
    return true
  }

  /// The digest is of all bytes, those that were there as well.
  fileprivate mutating func hashStart(_ onProgress: (Int64) -> Void) throws(SystemError) {
    var place: Int64 = 0
    while place < offset {
      let piece = try PartBytes.read(file, at: place, atMost: Int(min(offset - place, 512 << 10)))
      guard !piece.isEmpty else { throw SystemError(number: EIO, call: "pread") }
      digest?.update(piece.rawBytes)
      place += Int64(piece.count)
      onProgress(place)
    }
  }
}
