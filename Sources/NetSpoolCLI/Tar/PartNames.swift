import ArgumentParser

/// What the parts of an output are called: `x.tar` is `x-000000.tar`, `x-000001.tar`, ... where it is divided.
struct PartNames: Equatable {
  /// As the user named it.
  let path: String
  let isNumbered: Bool

  var folder: String { path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[...$0]) } ?? "./" }

  func path(_ number: Int) -> String {
    guard isNumbered else { return path }
    return "\(path.dropLast(4))-\(HumanText.padded(number, to: 6, with: "0")).tar"
  }

  func name(_ number: Int) -> String { OutputName.parts(path(number)).file }

  /// Which part the file of this name in the folder is, and whether it is whole.
  func part(_ name: String) -> (number: Int, isWhole: Bool)? {
    let isWhole = !name.hasSuffix(TarWriter.partEnding)
    let name = isWhole ? name : String(name.dropLast(TarWriter.partEnding.count))
    guard isNumbered else { return name == self.name(0) ? (0, isWhole) : nil }
    guard name.hasSuffix(".tar"), let dash = name.lastIndex(of: "-") else { return nil }
    let digits = name[name.index(after: dash)...].dropLast(4)
    guard let number = Int(digits), number >= 0, self.name(number) == name else { return nil }
    return (number, isWhole)
  }
}

enum ShardLimit: Equatable, Sendable, ExpressibleByArgument {
  case items(Int)
  case bytes(Int64)

  /// A number counts items; one with a unit, bytes.
  init?(argument: String) {
    let bytes = ByteSize(argument).map { Self.bytes($0.bytes) }
    guard let limit = Int(argument).map({ $0 > 0 ? .items($0) : nil }) ?? bytes else { return nil }
    self = limit
  }

  /// True if a part with this much has no room for `next` bytes. An item that is larger than a part is one alone.
  func isFull(items: Int, bytes: Int64, next: Int64 = 1) -> Bool {
    switch self {
    case .items(let most): items >= most
    case .bytes(let most): items > 0 && bytes + next > most
    }
  }
}
