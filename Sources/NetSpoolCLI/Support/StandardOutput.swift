/// Where results go.
enum StandardOutput {
  static func write(_ bytes: [UInt8]) throws(IOFailure) {
    try Descriptor(borrowing: 1, named: "standard output").write(bytes)
  }
}
