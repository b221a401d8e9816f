/// The body of a put that is not yet written.
enum PendingBody: Sendable {
  case bytes([UInt8])
  /// In a file beside the store's.
  case spooled(SpoolFile)

  var count: Int {
    switch self {
    case .bytes(let bytes): bytes.count
    case .spooled(let file): file.count
    }
  }

  var bytesInMemory: Int {
    switch self {
    case .bytes(let bytes): bytes.count
    case .spooled: 0
    }
  }

  /// The same for lookups before it is written; nil when the system has no room for it.
  var readable: ResponseBytes? {
    switch self {
    case .bytes(let bytes): ResponseBytes(bytes)
    case .spooled(let file): file.mapped.map { ResponseBytes($0) }
    }
  }

  /// The bytes of a body that stands in its record.
  var inline: [UInt8] {
    switch self {
    case .bytes(let bytes): bytes
    case .spooled(let file): (try? file.read(at: 0, max: file.count)) ?? []
    }
  }
}
