import Dispatch
import Glibc
import NetSpool

/// `--images-only`: a body gets its name only once it was looked at and found to be a whole image.
///
/// A body lands in a file of its own, beside its target or in a temporary folder, and is looked at there: in
/// memory, a few large images under way at once would take more than the whole job may. One at a time is mapped.
final class ImageGate: Sendable {
  enum Verdict: Equatable, Sendable {
    case passed
    /// `notAnImage` or `imageTruncated`.
    case refused(reason: String)
    case failed(errno: Int32)
  }

  private let queue = DispatchQueue(label: "netspool.images")
  /// For bodies that go to no file; made when there is no output folder.
  private let folder: String?

  /// - Parameter directory: where a temporary folder is made; nil when every body has a target.
  init(temporaryIn directory: String?) throws(IOFailure) {
    folder = try directory.map { directory throws(IOFailure) in try TemporaryFolder.make(in: directory) }
  }

  /// A name that no other body has, in the target's folder, so that a rename is all that is left to do.
  func landing(for target: String?) -> String { OwnName.beside(target ?? "\(folder ?? ".")/") }

  /// Looks at what has landed and gives it its name or removes it. The answer comes on a thread of the gate's.
  func judge(_ landing: String, _ target: String?, then: @escaping @Sendable (Verdict) -> Void) {
    queue.async { then(Self.verdict(landing, target)) }
  }

  /// Waits for what is being looked at. Nothing may land any more.
  func close() {
    queue.sync {}
    if let folder { unsafe _ = rmdir(folder) }
  }

  private static func verdict(_ landing: String, _ target: String?) -> Verdict {
    // Under its own name there is nothing any more to remove.
    defer { unsafe _ = unlink(landing) }
    do throws(IOFailure) {
      let file = try MappedFile(landing)
      if let reason = NetworkImage.defect(of: file.bytes) { return .refused(reason: reason) }
    } catch {
      // An answer without a body opens no file.
      return error.code == ENOENT ? .refused(reason: "notAnImage") : .failed(errno: error.code)
    }
    guard let target, unsafe rename(landing, target) != 0 else { return .passed }
    return .failed(errno: errno)
  }
}

/// The bytes of a plain file, mapped read-only for as long as the value lives. No process may cut the file meanwhile.
@safe struct MappedFile: ~Copyable {
  private let memory: UnsafeRawBufferPointer

  init(_ path: String) throws(IOFailure) {
    let file = try Descriptor(opening: path, O_RDONLY)
    guard let size = file.status?.size else { throw .last("look at", path) }
    guard size > 0 else {
      unsafe memory = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    let start = unsafe mmap(nil, size, PROT_READ, MAP_PRIVATE, file.number, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else { throw .last("map", path) }
    unsafe memory = UnsafeRawBufferPointer(start: start, count: size)
  }

  deinit {
    if let start = unsafe memory.baseAddress {
      unsafe munmap(UnsafeMutableRawPointer(mutating: start), memory.count)
    }
  }

  var bytes: RawSpan {
    @_lifetime(borrow self) get { unsafe _overrideLifetime(memory.bytes, borrowing: self) }
  }
}
