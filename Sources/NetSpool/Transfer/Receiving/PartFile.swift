internal import Glibc
internal import Synchronization

/// The part of a download that broke off, and what says that the rest belongs to it.
///
/// Beside the target `name` lie `name.netspool-part` with the bytes so far, and `name.netspool-validator` with four lines:
///
///     netspool-part 1
///     <digest of the URL> <boot of the machine>
///     <bytes of the whole, or ->
///     <strong validator, or ->
///
/// The second is written, in one step, while the first is empty; so whenever a process is killed, the bytes
/// in the part are of the body that the validator names. After a power failure they may not be: a part of an
/// earlier boot is begun anew. A part without a validator is not ours, and is left alone. A part that is
/// being written is locked (`LockedPart`), and no body is given a name like these (`FileTarget`). Whatever
/// else has become of it, its last 64 KiB are compared with the rest that comes, and one that ends otherwise
/// is begun anew.
final class PartFile: Sendable {
  let target: FileTarget
  private let state = Mutex(State())

  private struct State {
    var plan: PartPlan?
    var url = ""
    var offset: Int64 = 0
  }

  /// Shorter bodies have no part.
  private let bytesMin: Int64

  init(path: String, bytesMin: Int64) throws(SinkFailure) {
    target = try FileTarget(path)
    self.bytesMin = bytesMin
  }

  /// From where the body of the answer goes on; 0 before the answer, and for one that begins anew. Any thread.
  var offset: Int64 { state.withLock { $0.offset } }

  /// Looks at the part, which blocks on the disk, and has the request ask for the rest of it, or for the
  /// whole.
  func ask(_ request: inout NetworkRequest, forRest: Bool) {
    if request.hasExtras, request.extra.resumes {
      // Of an attempt before.
      request.headers.remove("Range")
      request.headers.remove("If-Range")
    }
    guard request.method == .get, !request.headers.contains("Range") else { return }
    let plan = forRest ? readPlan(of: request.url) : nil
    state.withLock { ($0.plan, $0.url, $0.offset) = (plan, request.url, 0) }
    // What may be short goes by the cache and may be compressed, as any other file.
    if plan == nil, bytesMin > 0 { return }
    request.extra.resumes = true
    if !request.headers.contains("Accept-Encoding") {
      request.headers.append(name: "Accept-Encoding", value: "identity")
    }
    guard let plan else { return }
    request.headers.append(name: "Range", value: "bytes=\(plan.offset)-")
    request.headers.append(name: "If-Range", value: plan.validator)
  }

  private func readPlan(of url: String) -> PartPlan? {
    guard let directory = try? FileDescriptor.directory(target.directory),
      let part = FileStatus(named: target.partName, in: directory), part.isRegular, part.bytes > 0,
      let note = PartNote(of: target, in: directory), note.isOf(url), let validator = note.validator,
      note.total.map({ part.bytes <= $0 }) ?? true
    else { return nil }
    return PartPlan(bytes: part.bytes, validator: validator, total: note.total)
  }

  /// What writes the body of an answer: behind the part, or anew.
  func work(
    for head: ResponseHead, bytesExpected: Int64?, digests: Bool, expected: [UInt8]?
  ) throws(SinkFailure) -> any FileSinkWork {
    let (plan, url) = state.withLock { ($0.plan, $0.url) }
    switch PartPlan.judge(head, bytesExpected: bytesExpected, plan) {
    case .goesOn(let plan, let total):
      state.withLock { $0.offset = plan.offset }
      let note = PartNote(url: url, validator: plan.validator, total: plan.total)
      return PartWriter(
        target, .goingOn(plan.offset, until: plan.bytes, total: total, of: note), digests: digests,
        expected: expected)
    case .begins(let validator, let total):
      guard isWorthAPart(validator, total, plan) else {
        return FileSinkBackground(
          target: target, placement: .replace, bytesExpected: bytesExpected, digests: digests,
          expected: expected)
      }
      let note = PartNote(url: url, validator: validator, total: total)
      return PartWriter(target, .beginning(note), digests: digests, expected: expected)
    case .mismatch(let reason):
      throw SinkFailure(mismatching: target, reason)
    }
  }

  /// A short body, and one that could not be gone on with, is a file as any other; where a part lies it is used up.
  private func isWorthAPart(_ validator: String?, _ total: Int64?, _ plan: PartPlan?) -> Bool {
    plan != nil || validator != nil && (total ?? .max) >= bytesMin
  }
}

extension FileTarget {
  /// What is there of the body.
  var partName: String { besideName("netspool-part") }
  /// What says of which body.
  var validatorName: String { besideName("netspool-validator") }

  /// A name beside the target; a long one is cut, and told apart by its digest.
  private func besideName(_ ending: String) -> String {
    guard name.utf8.count > 230 else { return "\(name).\(ending)" }
    var stem = name
    while stem.utf8.count > 200 { stem.removeLast() }
    return "\(stem)-\(Hexadecimal.text(Array(SHA256.of(Array(name.utf8)).prefix(6)))).\(ending)"
  }
}

/// The text of the file beside a part.
struct PartNote: Equatable, Sendable {
  let urlDigest: String
  let boot: String
  let total: Int64?
  let validator: String?

  private static let mark = "netspool-part 1"

  init(url: String, validator: String?, total: Int64?) {
    urlDigest = Hexadecimal.text(SHA256.of(Array(url.utf8)))
    boot = Self.thisBoot
    (self.validator, self.total) = (validator, total)
  }

  /// Nil when there is none, or it says something else.
  init?(of target: FileTarget, in directory: borrowing FileDescriptor) {
    let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK
    guard let file = try? FileDescriptor(opening: target.validatorName, in: directory, flags: flags),
      let status = try? FileStatus(of: file), status.isRegular, status.owner == geteuid()
    else { return nil }
    let text = String(decoding: (try? file.bytes(atMost: 16 << 10)) ?? [], as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.count == 5, lines[0] == Self.mark, lines[4].isEmpty else { return nil }
    let origin = lines[1].split(separator: " ")
    guard origin.count == 2 else { return nil }
    (urlDigest, boot) = (String(origin[0]), String(origin[1]))
    total = Int64(lines[2])
    validator = lines[3] == "-" ? nil : String(lines[3])
  }

  /// True if its part may be gone on with.
  func isOf(_ url: String) -> Bool {
    boot == Self.thisBoot && urlDigest == Hexadecimal.text(SHA256.of(Array(url.utf8)))
  }

  /// In one step.
  func write(for target: FileTarget, in directory: borrowing FileDescriptor) throws(SystemError) {
    let total = total.map(String.init) ?? "-"
    let text = "\(Self.mark)\n\(urlDigest) \(boot)\n\(total)\n\(validator ?? "-")\n"
    let draft = target.validatorName + "-new"
    directory.unlink(draft)
    let file = try directory.createNew(draft)
    try file.writeAll(Array(text.utf8).rawBytes, at: 0)
    try directory.rename(draft, to: target.validatorName)
  }

  private static let thisBoot =
    SystemText.read("/proc/sys/kernel/random/boot_id").map { $0.filter { !$0.isWhitespace } } ?? "unknown"
}
