import Testing

@testable import NetSpool

/// Keys on a page of a tree that may lie.
struct TreePageTests {
  private static let pageBytes = 2_048

  /// A page of nodes without values.
  private static func page(_ kind: TreePage.Kind, _ keys: [[UInt8]]) -> [UInt8] {
    let nodes = keys.map { key in
      [0, 0, 0, 0, 0, 0, UInt8(key.count & 255), UInt8(key.count >> 8)] + key
        + [UInt8](repeating: 0, count: key.count % 2)
    }
    var place = pageBytes - nodes.joined().count
    var page: [UInt8] = []
    page.append(integer: UInt64(7))
    page.append(integer: UInt16(0))
    page.append(integer: kind.rawValue)
    page.append(integer: UInt16(TreePage.headerBytes + 2 * keys.count))
    page.append(integer: UInt16(place))
    for node in nodes {
      page.append(integer: UInt16(place))
      place += node.count
    }
    page += [UInt8](repeating: 0, count: pageBytes - page.count - nodes.joined().count)
    return page + nodes.joined()
  }

  @Test(arguments: [
    (TreePage.Kind.leaf, [1, 8], false, true), (.leaf, [511], false, true), (.branch, [0, 8], false, true),
    (.branch, [512, 8], false, true), (.leaf, [8, 8], true, true), (.branch, [0, 8], true, true),
    (.leaf, [0, 8], false, false), (.leaf, [512], false, false), (.branch, [8, 0], false, false),
    (.branch, [0, 512], false, false), (.leaf, [7, 8], true, false), (.branch, [8, 9], true, false),
  ])
  func `keys have the length that they must, but for the first of a branch`(
    _ kind: TreePage.Kind, _ lengths: [Int], _ hasIntegerKeys: Bool, _ isWhole: Bool
  ) {
    let keys = lengths.enumerated().map { index, count in [UInt8](repeating: UInt8(index + 1), count: count) }
    var nodes = NodeTable(pageBytes: Self.pageBytes)
    var damage: TreeDamage?
    do throws(TreeDamage) {
      let page = Self.page(kind, keys)
      _ = try TreePage(page, number: 7, kind: kind, hasIntegerKeys: hasIntegerKeys, &nodes)
    } catch { damage = error }
    #expect((damage == nil) == isWhole, "\(damage as Any)")
  }
}
