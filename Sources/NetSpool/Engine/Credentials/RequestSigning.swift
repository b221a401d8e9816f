/// Requests that go with a Signature Version 4: what cannot be signed, and what an exchange is signed with.
extension NetworkEngine {
  /// Refuses what could not be signed, before it is queued. Any thread.
  ///
  /// Throws `invalidConfiguration`, `invalidRequest`.
  func checkSigning(of request: NetworkRequest) throws(NetworkError) {
    guard request.credentials != nil || isSigner, !request.headers.contains("Authorization"),
      case .aws(let account) = credential(of: request)?.scheme
    else { return }
    let fields = SentFields.make(defaults: headers, own: request.headers, decodes: false)
    if let stamp = fields.first("X-Amz-Date"), !AWSSignature.isStamp(stamp) {
      throw NetworkError(.invalidRequest, reason: "X-Amz-Date")
    }
    guard request.prepared.payload == nil, !account.isStorage else { return }
    if !fields.contains("X-Amz-Content-Sha256") {
      throw NetworkError(.invalidConfiguration, reason: "awsSigV4: X-Amz-Content-Sha256")
    }
  }

  private var isSigner: Bool { if case .aws = credential?.credential.scheme { true } else { false } }

  private func credential(of request: NetworkRequest) -> NetworkCredentials? {
    let mine = credential?.credential(for: request)
    return request.credentials?.over(mine) ?? mine
  }
}

extension AWSAccount {
  /// None where the caller has an `Authorization` of his own.
  func sign(_ request: NetworkRequest, _ plan: Exchange.Plan, _ own: Headers, for origin: Origin) -> Headers {
    if own.contains("Authorization") { return Headers() }
    let body = plan.source == nil ? PreparedBody.none : request.prepared
    return AWSSignature(
      account: self, method: plan.method.name,
      target: String(decoding: plan.url.utf8.dropFirst(plan.targetOffset), as: UTF8.self),
      authority: String(decoding: origin.text.utf8.dropFirst(origin.isSecure ? 8 : 7), as: UTF8.self),
      fields: own, payload: body.payload,
      stamp: own.first("X-Amz-Date") ?? AWSSignature.stamp(WallClock.seconds)
    ).added
  }
}

extension PreparedBody {
  fileprivate var payload: [UInt8]? {
    switch self {
    case .none: []
    case .bytes(let bytes): bytes
    case .file, .multipart, .stream: nil
    }
  }
}
