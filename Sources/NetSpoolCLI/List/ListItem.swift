/// One line of the list that asks for something.
struct ListItem: Equatable, Sendable {
  var url: String
  /// The output name after the tab, as written; nil without one.
  var name: String?
  /// Where it stands, from 1, in its own source.
  var line: Int
}

/// A line that cannot be used. It is reported with its number and never stops the job.
struct BrokenLine: Equatable, Sendable, CustomStringConvertible {
  enum Cause: Equatable, Sendable {
    case tooLong, notUTF8, hasNUL
    case notAURL(URLText.Problem)
  }

  var cause: Cause
  var source: String
  var line: Int

  var description: String { "\(source):\(line): \(sentence)" }

  private var sentence: String {
    switch cause {
    case .tooLong: "the line is longer than \(HumanText.count(ListReader.lineBytesMax)) bytes"
    case .notUTF8: "the line is not UTF-8"
    case .hasNUL: "the line contains a NUL byte"
    case .notAURL(let problem): problem.sentence
    }
  }
}
