internal import Glibc
internal import Synchronization

/// The part on the worker: opened by the first job, published by the last. Blocks.
final class PartWriter: FileSinkWork {
  enum Start: Sendable {
    /// From a byte of what is there, as long as that is what the note says; the bytes before `until` are
    /// compared.
    case goingOn(Int64, until: Int64, total: Int64?, of: PartNote)
    case beginning(PartNote)

    var note: PartNote {
      switch self {
      case .goingOn(_, _, _, let note), .beginning(let note): note
      }
    }

    /// The length of the whole, where it was told.
    var total: Int64? {
      if case .goingOn(_, _, let total, _) = self { total } else { note.total }
    }
  }

  fileprivate struct Open: ~Copyable {
    let part: LockedPart
    var offset: Int64
    /// Where what was there ends.
    let known: Int64
    var digest: SHA256?
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
        if let open = state.open.take() { digest = try publish(open) }
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
      guard let open = state.open.take() else { return }
      if start.note.validator == nil { return open.part.remove() }
      // Whoever published the part before this one may have taken the note for its own.
      if open.part.note == nil { try? start.note.write(for: target, in: open.part.directory) }
    }
  }

  /// Removes a part that nothing fits to, unless it is being written.
  static func discard(_ target: FileTarget) {
    guard let directory = try? FileDescriptor.directory(target.directory),
      FileStatus(named: target.partName, in: directory) != nil
    else { return }
    try? LockedPart(of: target).remove()
  }

  private func add(_ buffer: AlignedBuffer?, to state: inout State) throws(SinkFailure) {
    if state.open == nil { state.open = try opened() }
    try buffer?.withBytes { bytes throws(SinkFailure) in
      var fits: Bool?
      do throws(SystemError) {
        fits = try state.open?.take(bytes)
      } catch { throw failure("could not write to", error) }
      // Gone on with it would be wrong again.
      if fits == false {
        state.open?.part.remove()
        throw SinkFailure(mismatching: target, "what is there ends with other bytes")
      }
    }
  }

  private func failure(_ doing: String, _ error: SystemError) -> SinkFailure {
    var failure = SinkFailure("\(doing) the part of", target, error)
    failure.cause = .part
    return failure
  }

  private func opened() throws(SinkFailure) -> Open {
    var open: Open?
    do throws(SystemError) { open = try begun() } catch { throw failure("could not open", error) }
    if let open = open.take() { return open }
    // It was looked at before the request was sent, and has been another's since.
    throw SinkFailure(mismatching: target, "it has been begun anew meanwhile")
  }

  /// Nil when it is not the part that was planned for.
  private func begun() throws(SystemError) -> Open? {
    let part = try LockedPart(of: target)
    var (offset, known) = (0 as Int64, 0 as Int64)
    if case .goingOn(let place, let until, _, let note) = start {
      guard part.bytes >= until, part.note == note else { return nil }
      (offset, known) = (place, until)
    }
    var open = Open(part: part, offset: offset, known: known, digest: digests ? SHA256() : nil)
    try open.begin { bytesHashed.store($0, ordering: .relaxed) }
    if case .beginning(let note) = start { try note.write(for: target, in: open.part.directory) }
    return open
  }

  private func publish(_ open: consuming Open) throws(SinkFailure) -> [UInt8]? {
    if let total = start.total, total != open.offset {
      throw SinkFailure(
        reason: "\(target.path) has \(open.offset) bytes instead of \(total)", code: .resumeMismatch)
    }
    let digest = open.digest?.finish()
    let tooLong =
      open.offset < open.known ? SinkFailure(mismatching: target, "it is longer than the whole") : nil
    if let failure = tooLong ?? SinkFailure(of: target, digest, expected: expected) {
      // Gone on with it would be wrong again.
      open.part.remove()
      throw failure
    }
    do throws(SystemError) { try open.part.publish() } catch {
      throw SinkFailure("could not finish", target, error)
    }
    return digest
  }
}

extension PartWriter.Open {
  /// What is behind `known` goes: all of it, where the body begins anew.
  fileprivate mutating func begin(_ onProgress: (Int64) -> Void) throws(SystemError) {
    try part.file.truncate(to: known)
    if digest != nil { try hashStart(onProgress) }
  }

  /// Compares what is there and writes what is not; false where what is there has other bytes.
  fileprivate mutating func take(_ bytes: RawSpan) throws(SystemError) -> Bool {
    let done = Int(min(Int64(bytes.byteCount), max(0, known - offset)))
    if done > 0 {
      let there = try part.file.bytes(at: offset, atMost: done)
      guard there == Array(bytes.extracting(first: done)) else { return false }
      offset += Int64(done)
    }
    let new = bytes.extracting(done...)
    try part.file.writeAll(new, at: offset)
    offset += Int64(new.byteCount)
    digest?.update(bytes)
    return true
  }

  /// The digest is of all bytes, those that were there as well.
  fileprivate mutating func hashStart(_ onProgress: (Int64) -> Void) throws(SystemError) {
    var place: Int64 = 0
    while place < offset {
      let piece = try part.file.bytes(at: place, atMost: Int(min(offset - place, 512 << 10)))
      guard !piece.isEmpty else { throw SystemError(number: EIO, call: "pread") }
      digest?.update(piece.rawBytes)
      place += Int64(piece.count)
      onProgress(place)
    }
  }
}
