/// Writes the results file: one JSON object per line. See `ResultRecord`.
final class ResultsWriter {
  private let file: OutputFile
  private var line = JSONText()

  init(_ file: OutputFile) { self.file = file }

  /// Goes on after what an earlier run wrote.
  static func resume(_ path: String, after earlier: ResultsReader.Resumption) throws(IOFailure)
    -> ResultsWriter
  {
    let file = try OutputFile.resume(path, at: earlier.bytesKept)
    if earlier.lacksNewline { try file.write("\n".utf8) }
    return ResultsWriter(file)
  }

  func write(_ record: ResultRecord) throws(IOFailure) {
    line.removeAll()
    record.write(to: &line)
    try file.write(line.bytes)
  }

  func flush() throws(IOFailure) { try file.flush() }
}
