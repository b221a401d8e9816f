/// The open connections of one multi handle, by the port at our end: by that alone a transfer can tell on which one it is.
struct ConnectionBook {
  private var descriptors: [Int: [Int32]] = [:]
  /// Those whose port nobody has asked for.
  private var unnamed: [Int32] = []

  mutating func opened(_ descriptor: Int32) { unnamed.append(descriptor) }

  mutating func closed(_ descriptor: Int32, port: Int?) {
    unnamed.removeAll { $0 == descriptor }
    guard let port else { return }
    descriptors[port]?.removeAll { $0 == descriptor }
    if descriptors[port]?.isEmpty ?? false { descriptors[port] = nil }
  }

  /// Bytes have come on the connection that nobody has read.
  mutating func hasUnreadBytes(port: Int) -> Bool {
    descriptors(port: port).contains { StraySocket.firstByte(of: $0) != nil }
  }

  /// The connections with this port; more than one where they lead to several addresses.
  mutating func descriptors(port: Int) -> [Int32] {
    for descriptor in unnamed {
      if let port = StraySocket.localPort(of: descriptor) {
        descriptors[port, default: []].append(descriptor)
      }
    }
    unnamed.removeAll(keepingCapacity: true)
    return descriptors[port] ?? []
  }
}
