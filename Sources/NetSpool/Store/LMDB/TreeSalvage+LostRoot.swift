/// Finds the main tree of a file both of whose meta pages are gone.
///
/// It says where the named trees begin, and has so few records that it is one leaf. Each commit writes
/// another one, and puts the page of the one before on the list of free pages, under its own number (mdb.c,
/// `mdb_freelist_save`). So it is the one that the newest of those lists does not name, and whose trees are
/// all there.
extension TreeSalvage {
  func lostRoot() -> UInt64? {
    var mains: [UInt64: [TreeRoot]] = [:]
    var newest: (commit: UInt64, free: Set<UInt64>) = (0, [])
    for number in 2..<max((try? file.pageCount()) ?? 0, 2) {
      guard let page = load(number) else { continue }
      if let trees = namedTrees(page, number) {
        mains[number] = trees
      } else if let lists = freeLists(page, number), lists.commit >= newest.commit {
        newest = lists
      }
    }
    let standings = mains.map { number, trees in
      (newest.free.contains(number) ? 1 : 0, missing(trees), number)
    }
    return standings.min { $0 < $1 }?.2
  }

  /// The trees that a main leaf names; nil for any other page.
  private func namedTrees(_ page: [UInt8], _ number: UInt64) -> [TreeRoot]? {
    guard let leaf = leaf(page, number, hasIntegerKeys: false) else { return nil }
    var trees: [TreeRoot] = []
    for node in leaf where node.isTree {
      guard node.valueBytes == TreeRoot.bytes else { return nil }
      let root = TreeRoot(page.rawBytes, at: node.valueOffset)
      guard root.flags & ~TreeRoot.integerKeys == 0, root.depth <= 32 else { return nil }
      trees.append(root)
    }
    return trees.isEmpty ? nil : trees
  }

  /// What a leaf of the tree of free pages lists, and its last commit; nil for any other page.
  private func freeLists(_ page: [UInt8], _ number: UInt64) -> (commit: UInt64, free: Set<UInt64>)? {
    guard let leaf = leaf(page, number, hasIntegerKeys: true), let last = leaf.last else { return nil }
    var free: Set<UInt64> = []
    for node in leaf {
      guard !node.isTree, let list = file.value(of: node, in: page), list.count >= 8, list.count % 8 == 0
      else { return nil }
      let numbers = stride(from: 0, to: list.count, by: 8).map {
        list.rawBytes.integer(at: $0, as: UInt64.self)
      }
      guard numbers[0] == UInt64(numbers.count - 1) else { return nil }
      free.formUnion(numbers.dropFirst())
    }
    return (page.rawBytes.integer(at: last.offset + TreeNode.headerBytes), free)
  }

  /// The number of records of trees on pages that are gone.
  private func missing(_ trees: [TreeRoot]) -> UInt64 {
    trees.reduce(0) { missing, tree in
      if tree.root == TreeRoot.none { return missing }
      let there = records(on: tree.root, levels: tree.depth, hasIntegerKeys: tree.hasIntegerKeys)
      return missing + (max(tree.size.records, there) - min(tree.size.records, there))
    }
  }

  private func records(on number: UInt64, levels: Int, hasIntegerKeys: Bool) -> UInt64 {
    guard levels > 0, let page = load(number) else { return 0 }
    if levels == 1 { return UInt64(leaf(page, number, hasIntegerKeys: hasIntegerKeys)?.count ?? 0) }
    guard let branch = checked(page, number, .branch, hasIntegerKeys: hasIntegerKeys) else { return 0 }
    return branch.children(in: page).reduce(0) {
      $0 + records(on: $1, levels: levels - 1, hasIntegerKeys: hasIntegerKeys)
    }
  }

  private func leaf(_ page: [UInt8], _ number: UInt64, hasIntegerKeys: Bool) -> [TreeNode]? {
    checked(page, number, .leaf, hasIntegerKeys: hasIntegerKeys)?.leafNodes(in: page)
  }
}
