extension CurlCommand {
  /// One `-F` or `--form-string` per part; nil if curl's syntax cannot say one of them.
  func formWords(_ multipart: Multipart, _ redaction: Redaction?) -> CurlContent? {
    var words: [String] = []
    for part in multipart.parts {
      guard let pair = Self.formWord(Self.masking(part, redaction)) else { return nil }
      words += [pair.option, ShellWord.quote(pair.value, always: true)]
    }
    guard !words.isEmpty else { return nil }
    return CurlContent(words: words, impliedMethod: "POST", ownsContentType: true)
  }

  /// The whole body, its boundary too, from commands that print and `cat` it piece by piece.
  func pipedMultipart(_ multipart: Multipart, _ redaction: Redaction?) -> CurlContent {
    var pieces: [String] = []
    var held: [UInt8] = []
    for part in multipart.parts {
      // A part that cannot be written fails the request itself; the command then leaves it out.
      held += (try? multipart.head(of: part)) ?? []
      switch Self.masking(part, redaction).content {
      case .bytes(let bytes): held += bytes
      case .file(let path):
        pieces += [ShellWord.printing(held), "cat -- \(ShellWord.quote(Self.plainPath(path), always: true))"]
        held = []
      }
      held += [0x0D, 0x0A]
    }
    pieces.append(ShellWord.printing(held + Array("--\(multipart.boundary)--\r\n".utf8)))
    return CurlContent(
      words: ["--data-binary", "@-"], input: "{ \(pieces.joined(separator: "; ")); }",
      impliedMethod: "POST", impliedType: FormBody.contentType, contentType: multipart.contentType)
  }

  private static func masking(_ part: Multipart.Part, _ redaction: Redaction?) -> Multipart.Part {
    guard let redaction, case .bytes(let bytes) = part.content else { return part }
    var masked = part
    let isSecret = Redaction.isSecret(key: part.name.utf8)
    masked.content = .bytes(isSecret ? Array(Redaction.mask.utf8) : shown(bytes, part.sentType, redaction))
    return masked
  }

  private static func formWord(_ part: Multipart.Part) -> (option: String, value: String)? {
    guard isFormName(part.name), let attributes = attributes(of: part) else { return nil }
    switch part.content {
    case .file(let path):
      // Without a file name the part is a field: curl then reads its value from the file.
      let mark = part.fileName == nil ? "<" : "@"
      return ("-F", "\(part.name)=\(mark)\(quoted(plainPath(path)))\(attributes)")
    case .bytes(let bytes):
      guard bytes.count <= ShellWord.bytesMax, let text = ShellWord.text(bytes) else { return nil }
      if attributes.isEmpty { return ("--form-string", "\(part.name)=\(text)") }
      return ("-F", "\(part.name)=\(quoted(text))\(attributes)")
    }
  }

  /// `;type=` and `;filename=`; nil if curl would not give them back as they are.
  private static func attributes(of part: Multipart.Part) -> String? {
    var attributes = ""
    if let type = part.sentType {
      guard isFormType(type) else { return nil }
      attributes += ";type=\(type)"
    }
    if let fileName = part.fileName {
      guard !fileName.utf8.contains(where: \.isControl) else { return nil }
      attributes += ";filename=\(quoted(fileName))"
    }
    return attributes
  }

  private static func isFormName(_ name: String) -> Bool {
    !name.isEmpty && !name.utf8.contains { $0 == UInt8(ascii: "=") || $0.isControl }
  }

  /// `type/subtype`, nothing behind: curl's parser ends a type at semicolon, comma or space.
  private static func isFormType(_ type: String) -> Bool {
    let halves = type.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    return halves.count == 2
      && halves.allSatisfy { !$0.isEmpty && $0.count < 100 && $0.allSatisfy(\.isTokenByte) }
  }

  /// A quoted string of curl's `-F`: backslash before quotes and backslashes.
  private static func quoted(_ text: String) -> String {
    var output: [UInt8] = [UInt8(ascii: "\"")]
    for byte in text.utf8 {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { output.append(UInt8(ascii: "\\")) }
      output.append(byte)
    }
    output.append(UInt8(ascii: "\""))
    return String(decoding: output, as: UTF8.self)
  }
}
