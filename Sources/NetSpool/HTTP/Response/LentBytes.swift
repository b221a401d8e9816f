/// Bytes that belong to somebody else and stay what they are for as long as this lives.
protocol LentBytes: AnyObject, Sendable {
  var count: Int { get }

  /// A view of the bytes, valid while this lives; whoever lends them cannot take them back from then on.
  var rawBytes: RawSpan {
    @_lifetime(borrow self)
    get
  }

  /// Calls a closure with the bytes, which the lender leaves alone meanwhile.
  func withUnsafeBytes<Result, Thrown: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Thrown) -> Result
  ) throws(Thrown) -> Result
}
