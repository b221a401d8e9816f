import Glibc

/// A file that an option names, to be written. Two options with one file would destroy each other's work.
struct NamedOutput {
  let option: String
  let path: String

  init?(_ option: String, _ path: String?) {
    guard let path, path != "-" else { return nil }
    (self.option, self.path) = (option, path)
  }

  /// What is wrong with some outputs of one command; nil when each has a file of its own. Pipes and devices may be shared.
  static func clash(_ outputs: [NamedOutput?]) -> String? {
    let outputs = outputs.compactMap(\.self)
    for (number, output) in outputs.enumerated() {
      if let other = outputs[..<number].first(where: { $0.isSameFile(as: output) }) {
        return "\(other.option) and \(output.option) name the same file"
      }
    }
    return nil
  }

  private func isSameFile(as other: NamedOutput) -> Bool {
    switch (FileFacts(path: path), FileFacts(path: other.path)) {
    case (let mine?, let others?): mine.isSameFile(as: others)
    case (nil, nil): place == other.place
    default: false
    }
  }

  /// Of a file that is not there yet: its folder, however that is spelt, and its name.
  private var place: String {
    let (folder, name) = OutputName.parts(path)
    guard let real = unsafe realpath(folder.isEmpty ? "." : folder, nil) else { return path }
    defer { unsafe free(real) }
    return "\(unsafe String(cString: real))/\(name)"
  }
}
