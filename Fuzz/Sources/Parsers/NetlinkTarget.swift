@testable import NetSpool

/// What the kernel says of links and routes.
enum NetlinkTarget {
  static func run(_ bytes: [UInt8]) {
    var count = 0
    NetlinkReader.read(bytes.rawBytes) { _ in count += 1 }
    require(count <= bytes.count / 16, "no message is shorter than its head")
  }
}
