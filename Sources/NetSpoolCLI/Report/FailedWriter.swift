/// Writes the failed lines so that they can be the next run's list: URL, and tab and name if there is one.
final class FailedWriter {
  private let file: OutputFile

  init(_ file: OutputFile) { self.file = file }

  func write(url: String, output: String?) throws(IOFailure) {
    try file.write((output.map { "\(url)\t\($0)\n" } ?? "\(url)\n").utf8)
  }

  func flush() throws(IOFailure) { try file.flush() }
}
