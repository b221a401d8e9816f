import Glibc
import NetSpool
import Synchronization

/// Where the body of one answer goes.
final class GetTarget: Sendable {
  private enum Place {
    case standardOutput
    /// A pipe or device that was named as a file; open until the end.
    case device(SharedDescriptor)
    case file(String)
    /// A file in a folder whose name the server may give (`-OJ`, RFC 6266), whatever it says, and this if it does not.
    case named(folder: String, fallback: String)
  }

  private let place: Place
  /// The terminal is the target because nothing else was named.
  private let isGuarded: Bool
  private let path: Mutex<String?>

  /// - Parameter path: nil and `-` are standard output. What is no plain file is written to as it stands:
  ///   renaming a finished file over `/dev/null` or a FIFO would destroy it.
  init(_ path: String?) throws(IOFailure) {
    isGuarded = path == nil && isatty(1) == 1
    self.path = Mutex(path == "-" ? nil : path)
    guard let path, path != "-" else {
      place = .standardOutput
      return
    }
    let isFile = FileFacts(path: path)?.isPlainFile ?? true
    place = isFile ? .file(path) : .device(SharedDescriptor(try Descriptor(opening: path, O_WRONLY)))
  }

  init(in folder: String, fallback: String) {
    place = .named(folder: folder, fallback: fallback)
    path = Mutex(nil)
    isGuarded = false
  }

  /// - Parameter partBytesMin: of what is as long it leaves a part, and goes on with one; nil: it begins anew.
  func stream(partBytesMin: Int64?) -> any DownloadStream {
    switch place {
    case .standardOutput:
      let output = DescriptorDownloadStream(1, digests: false)
      return isGuarded ? HeadStream(refusesBinary: true) { _ in output } : output
    case .device(let device): return DescriptorDownloadStream(device.descriptor.number, digests: false)
    case .file(let path):
      return FileDownloadStream(path: path, resume: partBytesMin != nil, partBytesMin: partBytesMin ?? 0)
    case .named(let folder, let fallback):
      return HeadStream { [self] head in
        let name = head.headers["Content-Disposition"].flatMap(ContentDisposition.fileName)
        let path = try Self.free(folder + (name ?? fallback))
        self.path.withLock { $0 = path }
        return FileDownloadStream(path: path, digests: false)
      }
    }
  }

  private static func free(_ path: String) throws(IOFailure) -> String {
    if FileFacts(path: path) == nil { return path }
    throw IOFailure(action: "write over", path: path, code: EEXIST)
  }

  /// True if it is a plain file, which appears when it is whole.
  var isFile: Bool {
    switch place {
    case .standardOutput, .device: false
    case .file, .named: true
    }
  }

  /// The file, as far as it is known; nil for standard output.
  var fileName: String? { path.withLock(\.self) }

  /// Writes bytes that no stream saw: all of them, or nothing. A reader of standard output that left has what it wanted.
  func publish(_ bytes: [UInt8]) throws {
    if isGuarded, bytes.contains(0) { throw Mistake(HeadStream.binary) }
    switch place {
    case .standardOutput:
      do throws(IOFailure) { try StandardOutput.write(bytes) } catch {
        if error.code != EPIPE { throw error }
      }
    case .device(let device): try device.descriptor.write(bytes)
    case .file(let path): try WholeFile.write(bytes, to: path, mode: 0o666)
    case .named(let folder, let fallback):
      try WholeFile.write(bytes, to: try fileName ?? Self.free(folder + fallback), mode: 0o666)
    }
  }

  /// Puts bytes behind a body that a stream took.
  func append(_ bytes: [UInt8]) throws {
    guard isFile, let fileName else { return try publish(bytes) }
    try Descriptor(opening: fileName, O_WRONLY | O_APPEND).write(bytes)
  }
}

/// A stream that looks at the head before it says which stream gets the body.
final class HeadStream: DownloadStream {
  static let binary =
    "the body is binary and would garble the terminal: -o FILE keeps it, -o - shows it all the same"

  private let choose: @Sendable (ResponseHead) throws -> (any DownloadStream)?
  private let prefix: @Sendable () -> [UInt8]
  private let refusesBinary: Bool
  private let inner = Mutex<(any DownloadStream)?>(nil)

  /// - Parameters:
  ///   - prefix: goes before the body, to the same place.
  ///   - refusesBinary: keeps binary bytes from a terminal that was not named as the target.
  ///   - choose: nil: the body goes nowhere.
  init(
    prefix: @escaping @Sendable () -> [UInt8] = { [] }, refusesBinary: Bool = false,
    _ choose: @escaping @Sendable (ResponseHead) throws -> (any DownloadStream)?
  ) { (self.prefix, self.refusesBinary, self.choose) = (prefix, refusesBinary, choose) }

  func open(_ head: ResponseHead, bytesExpected: Int64?) throws {
    guard let stream = try choose(head) else { return }
    inner.withLock { $0 = stream }
    let text = prefix()
    try stream.open(head, bytesExpected: bytesExpected.map { $0 + Int64(text.count) })
    if !text.isEmpty { _ = try stream.write(unsafe text.span.bytes) }
  }

  func write(_ bytes: RawSpan) throws -> WriteResult {
    for offset in 0..<(refusesBinary ? bytes.byteCount : 0)
    where unsafe bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self) == 0 { throw Mistake(Self.binary) }
    return try inner.withLock(\.self)?.write(bytes) ?? .accepted
  }

  func close(_ outcome: Result<Void, NetworkError>) { inner.withLock(\.self)?.close(outcome) }
}
