/// The bytes of a body, held once however many copies of the response there are.
public struct ResponseBody: Sendable {
  let core: Body
  init(core: Body) { self.core = core }

  /// The number of bytes.
  public var count: Int { core.count }
  /// Whether there are none.
  public var isEmpty: Bool { core.count == 0 }

  /// A view of the bytes without copying, valid while the body is.
  public var bytes: RawSpan {
    @_lifetime(borrow self)
    get { core.rawBytes }
  }

  /// Calls a closure with the bytes, without copying. The pointer must not leave it.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try unsafe core.withUnsafeBytes(body)
  }
}

extension [UInt8] {
  /// The bytes of a body.
  public init(_ body: ResponseBody) { self = body.core.array }
}
