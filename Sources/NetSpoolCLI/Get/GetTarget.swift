import Glibc
import NetSpool

/// Where the body of a `get` goes.
final class GetTarget {
  let stream: any DownloadStream
  private let isStandardOutput: Bool
  /// A pipe or device that was named as a file; open until the end.
  private let device: Descriptor?
  /// Of a plain file.
  private let path: String?

  /// - Parameter path: nil and `-` are standard output. What is no plain file is written to as it stands:
  ///   renaming a finished file over `/dev/null` or a FIFO would destroy it.
  init(_ path: String?) throws(IOFailure) {
    guard let path, path != "-" else {
      stream = DescriptorDownloadStream(1, digests: false)
      isStandardOutput = true
      device = nil
      self.path = nil
      return
    }
    isStandardOutput = false
    if let status = FileStatus(path: path), !status.isPlainFile {
      let opened = try Descriptor(opening: path, O_WRONLY)
      stream = DescriptorDownloadStream(opened.number, digests: false)
      device = .some(opened)
      self.path = nil
    } else {
      stream = FileDownloadStream(path: path, digests: false)
      device = nil
      self.path = path
    }
  }

  /// Writes a body that no stream saw: all of it, or nothing.
  func publish(_ body: ResponseBody) throws(IOFailure) {
    if isStandardOutput { return try write(body) }
    guard let path else { return try writeToDevice([UInt8](body)) }
    let draft = "\(path).netspool-\(OwnName.word)"
    do throws(IOFailure) {
      try Descriptor(opening: draft, O_WRONLY | O_CREAT | O_EXCL).write([UInt8](body))
      guard unsafe rename(draft, path) == 0 else { throw .last("write", path) }
    } catch {
      unsafe unlink(draft)
      throw error
    }
  }

  private func writeToDevice(_ bytes: [UInt8]) throws(IOFailure) {
    if device != nil { try device?.write(bytes) }
  }

  /// Writes a body that came in one piece, an error page for instance; only to standard output.
  func write(_ body: ResponseBody) throws(IOFailure) {
    guard isStandardOutput, !body.isEmpty else { return }
    do throws(IOFailure) {
      try Descriptor(borrowing: 1, named: "standard output").write([UInt8](body))
    } catch {
      if error.code != EPIPE { throw error }
    }
  }
}
