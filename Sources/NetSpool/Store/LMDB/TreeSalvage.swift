/// Reads what is still whole in a file that is damaged somewhere. It begins at the newest meta page that
/// leads anywhere, or at the main tree that is found without (`lostRoot`), and goes into every page from
/// there that is what LMDB would have written: what a newer commit has replaced is not met.
final class TreeSalvage {
  let file: PageFile
  private var met: Set<UInt64> = []
  /// Memory to work in.
  private var nodes: NodeTable
  private let pageBytes = MetaPage.pageBytes

  init(_ data: consuming FileDescriptor) {
    file = PageFile(data)
    nodes = NodeTable(pageBytes: MetaPage.pageBytes)
  }

  /// Visits the records of the named trees. False when a meta page is damaged: then it is not known whether this is the
  /// newest, and what it says may be one commit old.
  func forEach(_ visit: (_ tree: String, _ key: RawSpan, _ value: RawSpan) -> Void) -> Bool {
    let metas = [file.meta(at: 0), file.meta(at: Int64(pageBytes))].compactMap(\.self)
    let newest = metas.sorted { $0.commit > $1.commit }.first { isRoot($0.main) }
    if let newest {
      walk(newest.main.root, levels: newest.main.depth, tree: nil, visit)
    } else if let root = lostRoot() {
      walk(root, levels: 1, tree: nil, visit)
    }
    return metas.enumerated().filter { $1.isWhole(at: UInt64($0)) }.count == 2
  }

  /// A page is there, and it is one of a tree of this depth.
  private func isRoot(_ root: TreeRoot) -> Bool {
    guard (1...32).contains(root.depth), let page = load(root.root) else { return false }
    return checked(page, root.root, root.depth > 1 ? .branch : .leaf) != nil
  }

  private func walk(
    _ number: UInt64, levels: Int, tree: String?, _ visit: (String, RawSpan, RawSpan) -> Void
  ) {
    guard levels > 0, levels <= 32, number != TreeRoot.none, met.insert(number).inserted,
      let page = load(number)
    else { return }
    let kind: TreePage.Kind = levels > 1 ? .branch : .leaf
    guard let checked = checked(page, number, kind) else { return }
    if kind == .branch {
      for child in checked.children(in: page) { walk(child, levels: levels - 1, tree: tree, visit) }
    } else {
      for node in checked.leafNodes(in: page) { take(node, of: page, tree: tree, visit) }
    }
  }

  private func take(
    _ node: TreeNode, of page: [UInt8], tree: String?, _ visit: (String, RawSpan, RawSpan) -> Void
  ) {
    let keyOffset = node.offset + TreeNode.headerBytes
    let bytes = page.rawBytes
    let key = bytes.extracting(keyOffset..<keyOffset + node.keyBytes)
    guard let tree else {
      guard node.isTree, node.valueBytes == TreeRoot.bytes else { return }
      let root = TreeRoot(bytes, at: node.valueOffset)
      let name = String(decoding: page[keyOffset..<keyOffset + node.keyBytes], as: UTF8.self)
      return walk(root.root, levels: root.depth, tree: name, visit)
    }
    if let value = file.value(of: node, in: page) { visit(tree, key, value.rawBytes) }
  }

  /// A page that is what LMDB would have written; nil for any other.
  func checked(
    _ page: [UInt8], _ number: UInt64, _ kind: TreePage.Kind, hasIntegerKeys: Bool = false
  ) -> TreePage? {
    try? TreePage(page, number: number, kind: kind, hasIntegerKeys: hasIntegerKeys, &nodes)
  }

  func load(_ number: UInt64) -> [UInt8]? {
    guard number < 1 << 40 else { return nil }
    var page = [UInt8](repeating: 0, count: pageBytes)
    return file.read(into: &page, at: Int64(number) * Int64(pageBytes)) ? page : nil
  }
}
