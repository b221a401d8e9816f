/// Walks through all pages of all trees and through the lists of free pages. Every page must be what LMDB
/// would have written, and stand in one place only: a live page that is also listed as free would be
/// overwritten later.
final class TreeWalk {
  private let file: PageFile
  private let meta: MetaPage
  private let pageCount: UInt64
  let pageBytes: Int
  /// A bit per page of the file: met already.
  private var met: [UInt64]
  /// A page buffer per level of the tree.
  private var levels: [[UInt8]] = []
  var nodes: NodeTable

  private static let depthMax = 32

  init(_ file: PageFile, _ meta: MetaPage) throws(TreeDamage) {
    self.file = file
    self.meta = meta
    pageBytes = meta.pageBytes
    pageCount = try file.pageCount()
    met = Array(repeating: 0, count: Int(meta.lastPage / 64) + 1)
    nodes = NodeTable(pageBytes: meta.pageBytes)
    try claimInFile(0, pages: 2)
  }

  func checkAll() throws(TreeDamage) {
    try check(meta.free, as: .freePages)
    try check(meta.main, as: .main)
  }

  enum Tree { case main, named, freePages }

  private func check(_ root: TreeRoot, as tree: Tree) throws(TreeDamage) {
    guard root.depth <= Self.depthMax else { throw TreeDamage("tree depth") }
    guard (root.root == TreeRoot.none) == (root.depth == 0) else { throw TreeDamage("tree root") }
    var size = TreeSize()
    if root.depth > 0 { try visit(root.root, levelsBelow: root.depth - 1, root, tree, &size) }
    guard size == root.size else { throw TreeDamage("tree size") }
  }

  private func visit(
    _ number: UInt64, levelsBelow: Int, _ root: TreeRoot, _ tree: Tree, _ size: inout TreeSize
  ) throws(TreeDamage) {
    try claimInFile(number, pages: 1)
    let page = try load(number, level: root.depth - levelsBelow + (tree == .named ? Self.depthMax : 0))
    let kind: TreePage.Kind = levelsBelow > 0 ? .branch : .leaf
    let checked = try TreePage(page, number: number, kind: kind, hasIntegerKeys: root.hasIntegerKeys, &nodes)
    if kind == .branch {
      size.branchPages += 1
      for child in checked.children(in: page) {
        try visit(child, levelsBelow: levelsBelow - 1, root, tree, &size)
      }
    } else {
      size.leafPages += 1
      size.records += UInt64(checked.offsets.count)
      for node in checked.leafNodes(in: page) { try visit(node, of: page, tree, &size) }
    }
  }

  private func visit(
    _ node: TreeNode, of page: [UInt8], _ tree: Tree, _ size: inout TreeSize
  ) throws(TreeDamage) {
    if node.isLarge {
      let pages = LargeValue.pages(forBytes: node.valueBytes, pageBytes: pageBytes)
      try claimInFile(node.largePage, pages: UInt64(pages))
      size.overflowPages += UInt64(pages)
    }
    if node.isTree {
      guard tree == .main, node.valueBytes == TreeRoot.bytes else { throw TreeDamage("tree record") }
      let root = TreeRoot(page.rawBytes, at: node.valueOffset)
      guard root.flags & ~TreeRoot.integerKeys == 0 else { throw TreeDamage("tree flags") }
      try check(root, as: .named)
    }
    if tree == .freePages { try checkFreeList(node, of: page) }
  }

  /// A list of free pages: their count, then their numbers, falling.
  private func checkFreeList(_ node: TreeNode, of page: [UInt8]) throws(TreeDamage) {
    guard let list = file.value(of: node, in: page) else { throw TreeDamage("file too short") }
    guard list.count >= 8, list.count % 8 == 0 else { throw TreeDamage("free list") }
    let bytes = list.rawBytes
    guard bytes.integer(at: 0, as: UInt64.self) == UInt64(list.count / 8 - 1) else {
      throw TreeDamage("free list")
    }
    var previous = UInt64.max
    for index in 1..<max(list.count / 8, 1) {
      let number: UInt64 = bytes.integer(at: index * 8)
      guard number < previous else { throw TreeDamage("free list") }
      try claim(number, pages: 1)
      previous = number
    }
  }

  private func load(_ number: UInt64, level: Int) throws(TreeDamage) -> [UInt8] {
    while levels.count <= level { levels.append(Array(repeating: 0, count: pageBytes)) }
    guard file.read(into: &levels[level], at: Int64(number) * Int64(pageBytes)) else {
      throw TreeDamage("file too short")
    }
    return levels[level]
  }

  /// Pages that are read.
  private func claimInFile(_ first: UInt64, pages: UInt64) throws(TreeDamage) {
    guard first <= pageCount, pages <= pageCount - first else { throw TreeDamage("file too short") }
    try claim(first, pages: pages)
  }

  /// Each page belongs to one place.
  private func claim(_ first: UInt64, pages: UInt64) throws(TreeDamage) {
    guard first <= meta.lastPage, pages <= meta.lastPage - first + 1 else { throw TreeDamage("page number") }
    for number in first..<first + pages {
      let bit: UInt64 = 1 << (number % 64)
      guard met[Int(number / 64)] & bit == 0 else { throw TreeDamage("page used twice") }
      met[Int(number / 64)] |= bit
    }
  }
}
