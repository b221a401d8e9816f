/// Builds datagrams as the kernel would, in the machine's byte order.
struct NetlinkBytes {
  private(set) var bytes: [UInt8] = []

  mutating func message(
    _ type: UInt16, flags: UInt16 = 0, sequence: UInt32 = 0, length: UInt32? = nil, _ payload: [UInt8]
  ) {
    var message: [UInt8] = []
    message += Self.native(length ?? UInt32(16 + payload.count)) + Self.native(type) + Self.native(flags)
    message += Self.native(sequence) + Self.native(UInt32(0)) + payload
    bytes += Self.padded(message)
  }

  static func link(_ index: Int32, _ name: String, flags: UInt32, family: UInt8 = 0) -> [UInt8] {
    [family, 0] + native(UInt16(1)) + native(index) + native(flags) + native(UInt32.max)
      + attribute(3, Array(name.utf8) + [0])
  }

  static func address(
    _ family: UInt8, _ value: [UInt8], length: UInt8 = 24, flags: UInt8 = 0, scope: UInt8 = 0, index: UInt32,
    local: [UInt8]? = nil
  ) -> [UInt8] {
    [family, length, flags, scope] + native(index) + attribute(1, value)
      + (local.map { attribute(2, $0) } ?? [])
  }

  static func route(
    _ family: UInt8, _ destination: [UInt8] = [], length: UInt8 = 0, type: UInt8 = 1, table: UInt8 = 254,
    flags: UInt32 = 0, interface: Int32? = nil, metric: UInt32? = nil, more: [UInt8] = []
  ) -> [UInt8] {
    [family, length, 0, 0, table, 3, 0, type] + native(flags)
      + (destination.isEmpty ? [] : attribute(1, destination))
      + (interface.map { attribute(4, native($0)) } ?? [])
      + (metric.map { attribute(6, native($0)) } ?? []) + more
  }

  static func hops(_ interfaces: [Int32]) -> [UInt8] {
    attribute(9, interfaces.flatMap { native(UInt16(8)) + [0, 0] + native($0) })
  }

  static func attribute(_ type: UInt16, _ value: [UInt8], length: UInt16? = nil) -> [UInt8] {
    padded(native(length ?? UInt16(4 + value.count)) + native(type) + value)
  }

  static func native<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] {
    let little = (0..<MemoryLayout<Number>.size).map { UInt8(truncatingIfNeeded: number >> Number(8 * $0)) }
    return 1.littleEndian == 1 ? little : little.reversed()
  }

  private static func padded(_ bytes: [UInt8]) -> [UInt8] {
    bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4)
  }
}
