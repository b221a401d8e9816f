import ArgumentParser

struct OptionSpec: Sendable {
  /// Letters and long names, as they are listed.
  private(set) var names: [String] = []
  /// What its value is called; nil for a flag.
  private(set) var value: String?
  private(set) var marks: Set<String> = []
  /// Its help, or the reason why it is not there.
  let text: String
  /// Its names as the parser wants them, which makes each option a hundred times in a debug build.
  private(set) var specification: NameSpecification = []
  private let isFile: Bool

  init(_ line: Substring.UTF8View) {
    var (rest, isHead) = (line, true)
    while isHead, !rest.isEmpty {
      let word = rest.prefix { $0 != UInt8(ascii: " ") }
      rest = rest[word.endIndex...].dropFirst()
      isHead = word.last != UInt8(ascii: ":")
      let isEnded = !isHead || word.last == UInt8(ascii: ",")
      let text = String(Substring(isEnded ? word.dropLast() : word))
      if text.hasPrefix("-") {
        names.append(String(text.dropFirst(text.hasPrefix("--") ? 2 : 1)))
      } else if text.hasPrefix("<") {
        value = String(text.dropFirst().dropLast())
      } else {
        marks.insert(text)
      }
    }
    text = String(Substring(rest))
    isFile = ["file", "path", "x."].contains { [value] in value?.contains($0) == true }
    specification = NameSpecification(
      names.map { $0.utf8.count == 1 ? .customShort(Character($0)) : .customLong($0) })
  }

  /// The long name that it goes by.
  var name: String { names.first { $0.utf8.count > 1 } ?? names[0] }

  func has(_ mark: String) -> Bool { marks.contains(mark) }

  /// - Parameter command: whose option it is, where others have another one of that name.
  fileprivate static func declared(_ name: String, _ command: String?) -> OptionSpec {
    guard let spec = OptionTable.find(name, before: command ?? "") else {
      preconditionFailure("the table of options has no '\(name)'")
    }
    return spec
  }

  fileprivate var help: ArgumentHelp {
    ArgumentHelp(text, valueName: value, visibility: text.isEmpty ? .hidden : .default)
  }

  fileprivate var completion: CompletionKind? {
    guard let value else { return nil }
    if value == "dir" { return .directory }
    return isFile ? .file() : nil
  }
}

extension OptionTable {
  /// The commands that take curl's options.
  static let commands: Set<String> = ["fetch", "get", "post"]

  /// The option of a command with this name, a letter or a long one, perhaps with `no-`.
  static func find(_ name: String, of command: String) -> OptionSpec? { index[command]?[name] }

  /// The same, of another command where this one has none: so its value is told from a word.
  static func find(_ name: String, before others: String) -> OptionSpec? {
    find(name, of: others) ?? anyCommands[name]
  }

  private static let anyCommands = commands.sorted().reduce(into: [:]) { options, command in
    options.merge(index[command] ?? [:]) { first, _ in first }
  }

  static func names(of command: String) -> Set<String> { Set((index[command] ?? [:]).keys) }

  /// Why a command does not have an option that curl has; nil where nothing is said of it.
  static func refusal(_ name: String, of command: String) -> String? {
    ((command == "fetch" ? find(name, of: "instead-of-fetch") : nil) ?? find(name, of: "refused"))?.text
  }

  private static let index: [String: [String: OptionSpec]] = {
    var (index, sections) = ([String: [String: OptionSpec]](), [String]())
    for line in text.utf8.split(separator: UInt8(ascii: "\n")) {
      if line.first == UInt8(ascii: "#") {
        sections = line.split(separator: UInt8(ascii: " ")).dropFirst().map { String(Substring($0)) }
        continue
      }
      let spec = OptionSpec(line)
      for name in spec.names {
        for section in sections {
          index[section, default: [:]][name] = spec
          if spec.has("inverts"), name.utf8.count > 1 { index[section, default: [:]]["no-\(name)"] = spec }
        }
      }
    }
    return index
  }()
}

extension Option {
  init<T: ExpressibleByArgument>(_ name: String, of command: String? = nil) where Value == T? {
    let spec = OptionSpec.declared(name, command)
    self.init(name: spec.specification, help: spec.help, completion: spec.completion)
  }

  init(wrappedValue: Value, _ name: String, of command: String? = nil) where Value: ExpressibleByArgument {
    let spec = OptionSpec.declared(name, command)
    self.init(
      wrappedValue: wrappedValue, name: spec.specification, help: spec.help, completion: spec.completion)
  }

  init<T: ExpressibleByArgument>(wrappedValue: [T], _ name: String, of command: String? = nil)
  where Value == [T] {
    let spec = OptionSpec.declared(name, command)
    self.init(
      wrappedValue: wrappedValue, name: spec.specification, help: spec.help, completion: spec.completion)
  }
}

extension Flag where Value == Bool {
  init(wrappedValue: Bool, _ name: String, of command: String? = nil) {
    let spec = OptionSpec.declared(name, command)
    self =
      spec.has("inverts")
      ? Flag(wrappedValue: wrappedValue, name: spec.specification, inversion: .prefixedNo, help: spec.help)
      : Flag(wrappedValue: wrappedValue, name: spec.specification, help: spec.help)
  }
}

extension Flag where Value == Bool? {
  init(_ name: String) {
    let spec = OptionSpec.declared(name, "get")
    self.init(name: spec.specification, inversion: .prefixedNo, help: spec.help)
  }
}

/// Flags of which the last counts.
extension EnumerableFlag where Self: RawRepresentable, RawValue == String {
  static func name(for flag: Self) -> NameSpecification {
    OptionSpec.declared(flag.rawValue, nil).specification
  }

  static func help(for flag: Self) -> ArgumentHelp? { OptionSpec.declared(flag.rawValue, nil).help }
}
