/// What the parts of the library make of a failure. One exhaustive table: a new code does not compile until somebody has
/// said what it means to each of them.
struct FailureTraits: OptionSet {
  let rawValue: UInt8

  /// Another attempt may do better: the network failed, not the request, the configuration or the disk.
  static let isTransient = FailureTraits(rawValue: 1 << 0)
  /// A stored answer may stand in for the one that did not come (RFC 9111 section 4.2.4, RFC 5861 section 4).
  static let mayServeStale = FailureTraits(rawValue: 1 << 1)
  /// It can never be sent, or its answer never be taken: no time changes that.
  static let isLasting = FailureTraits(rawValue: 1 << 2)
  /// It was not tried: a frozen request goes back to its lane.
  static let isPutOff = FailureTraits(rawValue: 1 << 3)
  /// It says nothing about the origin: our side ended it.
  static let isOurs = FailureTraits(rawValue: 1 << 4)
}

extension NetworkError.Code {
  var traits: FailureTraits {
    switch word {
    case .resolveFailed, .connectFailed, .timedOut, .connectionLost, .transportFailed, .http2Failed,
      .truncatedHeaders, .bodyTruncated:
      [.isTransient, .mayServeStale]
    case .offline, .proxyFailed, .badChunk: .mayServeStale
    case .invalidRequest, .invalidURL, .invalidConfiguration, .egressDenied, .tooManyRedirects,
      .redirectCycle,
      .redirectRefused, .badLocation, .authenticationFailed, .bodyTooLarge, .decompressionLimit:
      .isLasting
    case .engineClosed, .queueFull: .isPutOff
    case .cancelled, .sinkFailed: .isOurs
    case .notCached, .engineStartFailed, .usedAfterFork, .outOfMemory, .tooManyOpenFiles, .tlsRejected,
      .protocolViolation, .headersTooLarge, .tooManyInformational, .ambiguousFraming, .status, .decodeFailed,
      .uploadSourceFailed, .uploadLengthMismatch, .resumeMismatch, .storeOpenFailed, .storeInUse,
      .storeCorrupt,
      .storageFull, .storeBusy, .storeFailed, .frozenExpired, .frozenRejected, .frozenPoisoned,
      .outcomeUnknown:
      []
    }
  }
}
