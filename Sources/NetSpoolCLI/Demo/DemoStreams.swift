import Dispatch
import Glibc
import NetSpool
import Synchronization

/// One download into several streams at once: two files and a pipe.
struct DemoStreams {
  let folder: DemoFolder
  let url: String
  let bytes: Int

  struct Outcome {
    let seconds: Double
    /// One for each stream.
    let digests: [String?]
    /// Bytes that came out of the pipe.
    let piped: Int64
    /// Each file, and what came out of the pipe, is the body to the byte.
    let areWhole: Bool
  }

  /// Throws what the network or the disk says.
  func run() throws -> Outcome {
    let pipe = try DemoPipe(into: folder["piped.bin"])
    let paths = [folder["first.bin"], folder["second.bin"]]
    let queue = try NetworkQueue()
    defer { queue.close() }
    var configuration = NetworkEngine.Configuration()
    configuration.queue = queue
    configuration.receiveBufferBytes = 512 << 10
    let engine = try NetworkEngine(configuration: configuration)
    let download = engine.operation(url: url)
    for path in paths { download.addDownloadStream(FileDownloadStream(path: path)) }
    download.addDownloadStream(DescriptorDownloadStream(pipe.writeEnd))
    let begin = ContinuousClock.now
    let response = try engine.wait(for: download)
    let seconds = begin.duration(to: .now) / .seconds(1)
    let piped = pipe.finish()
    let areWhole = (paths + [folder["piped.bin"]]).allSatisfy { DemoFolder.holdsPattern($0, count: bytes) }
    return Outcome(
      seconds: seconds, digests: response.streams.map(\.sha256), piped: piped, areWhole: areWhole)
  }
}

/// A pipe and a thread that writes what comes out of it to a file.
final class DemoPipe: Sendable {
  let writeEnd: Int32
  private let count = Mutex<Int64>(0)
  private let done = DispatchSemaphore(value: 0)

  init(into path: String) throws(IOFailure) {
    var ends: [Int32] = [-1, -1]
    guard unsafe pipe(&ends) == 0 else { throw .last("create", "a pipe") }
    writeEnd = ends[1]
    DispatchQueue(label: "demo.pipe").async { [readEnd = ends[0], self] in
      // A file that cannot be written shows as one that is not whole.
      try? copy(from: readEnd, to: path)
      Glibc.close(readEnd)
      done.signal()
    }
  }

  private func copy(from readEnd: Int32, to path: String) throws(IOFailure) {
    let file = try OutputFile.create(path)
    let source = Descriptor(borrowing: readEnd, named: "a pipe")
    var buffer = [UInt8](repeating: 0, count: OutputFile.bufferBytes)
    while true {
      let got = try source.read(into: &buffer, at: 0, count: buffer.count)
      if got == 0 { return try file.flush() }
      try file.write(buffer[..<got])
      count.withLock { $0 += Int64(got) }
    }
  }

  /// Closes our end and waits until the other has everything; the number of bytes.
  func finish() -> Int64 {
    Glibc.close(writeEnd)
    done.wait()
    return count.withLock { $0 }
  }
}
