@testable import NetSpoolCLI
@testable import TestSupport

extension ListReader {
  /// Reads all that is left.
  func rest() throws -> [Pull] {
    var pulls: [Pull] = []
    repeat { pulls.append(try next()) } while pulls.last != .end
    return pulls.dropLast()
  }

  /// All that a list says.
  static func read(_ text: String) throws -> (items: [ListItem], broken: [BrokenLine]) {
    let folder = try TestFolder()
    let pulls = try ListReader([.file(try folder.write("list", text))]).rest()
    return (pulls.compactMap(\.item), pulls.compactMap(\.broken))
  }
}

extension ListReader.Pull {
  var item: ListItem? { if case .item(let item) = self { item } else { nil } }
  var broken: BrokenLine? { if case .broken(let line) = self { line } else { nil } }
}
