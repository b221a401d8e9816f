import ArgumentParser

/// What `get` and `post` send, with curl's names and meanings.
struct BodyOptions: ParsableArguments {
  /// What is sent as a form: `CommandWords` makes one option of all kinds of `--data`, and of `--form`.
  @Option("data") var texts: [DataText] = []
  @Option("data-raw") var dataRaw: [String] = []
  @Option("data-binary") var dataBinary: [String] = []
  @Option("data-urlencode") var dataUrlencode: [String] = []
  @Option("url-query") var urlQuery: [DataText] = []
  @Flag("get") var inQuery = false
  /// The fields of a multipart body.
  @Option("form") var form: [FormField] = []
  @Option("form-string") var formString: [String] = []
  /// The n-th goes to the n-th URL.
  @Option("upload-file") var uploads: [String] = []
  @Option("file") var file: String?
  @Option("json", of: "get") var json: [DataText] = []

  func validate() throws {
    if let problem = form.lazy.compactMap(\.problem).first { throw ValidationError(problem) }
    let kinds = [!texts.isEmpty, !form.isEmpty, file != nil, !uploads.isEmpty, !json.isEmpty]
    try refuse(
      kinds.count { $0 } > 1,
      "--data, --form, --file, --upload-file and --json are five kinds of body: one at a time.")
    try refuse(
      inQuery && !isEmpty && texts.isEmpty, "--get puts what --data says into the query, and nothing else.")
    let names = (texts.flatMap(\.file) + json.flatMap(\.file) + [file].compactMap(\.self) + uploads)
    try refuseTwoInputs(names)
  }

  /// True if there is anything to send.
  var isEmpty: Bool { texts.isEmpty && form.isEmpty && file == nil && uploads.isEmpty && json.isEmpty }
}

/// The text of a `--data`, `--json` and their like.
struct DataText: Equatable, Sendable, ExpressibleByArgument {
  /// What becomes of it, by what the option's name ends with.
  enum Kind: String, Sendable { case plain = "", raw, binary, encoded = "urlencode" }

  let kind: Kind
  let text: String

  init(_ kind: Kind, _ text: String) { (self.kind, self.text) = (kind, text) }

  init(argument: String) {
    let (kind, text) = CommandWord.unmarked(argument)
    self.init(Kind(rawValue: kind) ?? .plain, text)
  }

  /// The file that it names, in an array.
  var file: [String] {
    switch kind {
    case .raw: return []
    case .plain, .binary: return text.hasPrefix("@") ? [String(text.dropFirst())] : []
    case .encoded:
      guard let mark = encodedMark, text[mark] == "@" else { return [] }
      return [String(text[text.index(after: mark)...])]
    }
  }

  /// `=` or `@`, whichever is first.
  private var encodedMark: String.Index? { text.firstIndex { $0 == "=" || $0 == "@" } }

  func bytes() throws(IOFailure) -> [UInt8] {
    let read = try file.first.map { path throws(IOFailure) in
      try Descriptor.reading(path).readAll(atMost: BodyOptions.inMemoryBytesMax)
    }
    switch kind {
    case .plain: return read?.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 } ?? Array(text.utf8)
    case .raw, .binary: return read ?? Array(text.utf8)
    case .encoded:
      // The name goes as it is.
      let name = encodedMark.map { text[..<$0] } ?? ""
      let value = encodedMark.map { text[text.index(after: $0)...] } ?? text[...]
      return Array((name.isEmpty ? "" : "\(name)=").utf8)
        + PercentCoding.encoded(read ?? Array(value.utf8), space: UInt8(ascii: "+"))
    }
  }
}

/// Percent-encoding as curl_easy_escape(3) does it.
enum PercentCoding {
  /// - Parameter space: what a blank becomes; `+` in forms.
  static func encoded(_ bytes: [UInt8], space: UInt8? = nil) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    for byte in bytes {
      if byte == 0x20, let space {
        output.append(space)
      } else if byte.isAlphanumeric(or: "-._~") {
        output.append(byte)
      } else {
        output += [0x25, digit(byte >> 4), digit(byte & 15)]
      }
    }
    return output
  }

  private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
