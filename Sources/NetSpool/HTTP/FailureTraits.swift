/// The meaning of a failure to the parts of the library, and to the tool. Exhaustive tables: a new code does not compile
/// until it is said here what it means to each of them.
struct FailureTraits: OptionSet, Sendable {
  let rawValue: UInt8

  /// Another attempt may do better: the network failed, not the request, the configuration or the disk.
  static let isTransient = FailureTraits(rawValue: 1 << 0)
  /// A stored answer may stand in for the one that did not come (RFC 9111 section 4.2.4, RFC 5861 section 4).
  static let mayServeStale = FailureTraits(rawValue: 1 << 1)
  /// The request can never be sent, or its answer never be taken: no time changes that.
  static let isLasting = FailureTraits(rawValue: 1 << 2)
  /// The request was not tried: a frozen one goes back to its lane.
  static let isPutOff = FailureTraits(rawValue: 1 << 3)
  /// The failure says nothing about the origin: our side ended it.
  static let isOurs = FailureTraits(rawValue: 1 << 4)
  /// The same request to the same server most likely meets it again: a job does not try a second time.
  static let recurs = FailureTraits(rawValue: 1 << 5)
  /// This machine could not take the body.
  static let isLocal = FailureTraits(rawValue: 1 << 6)
}

/// On which part of the way an attempt failed.
enum FailureStage: Sendable {
  /// This machine has no way to others.
  case route
  case name
  case connection
  case proxy
  case handshake
  /// The connection, after it was made.
  case line
  /// Somewhere, when a limit of time was over.
  case time
  /// Before anything was sent, in the answer, or on this machine.
  case elsewhere
}

extension NetworkError.Code {
  /// What the tool has to know.
  package var isLocal: Bool { traits.contains(.isLocal) }
  package var recurs: Bool { traits.contains(.recurs) }

  var traits: FailureTraits {
    switch word {
    case .resolveFailed, .connectFailed, .timedOut, .connectionLost, .transportFailed, .http2Failed,
      .truncatedHeaders, .bodyTruncated:
      [.isTransient, .mayServeStale]
    case .offline, .proxyFailed, .badChunk: .mayServeStale
    case .invalidRequest, .invalidURL, .invalidConfiguration, .egressDenied, .tooManyRedirects,
      .redirectCycle, .redirectRefused, .badLocation, .authenticationFailed, .bodyTooLarge,
      .decompressionLimit:
      [.isLasting, .recurs]
    case .notCached, .tlsRejected, .protocolViolation, .headersTooLarge, .tooManyInformational,
      .ambiguousFraming, .decodeFailed, .imageRejected, .digestMismatch:
      .recurs
    case .engineClosed, .queueFull: .isPutOff
    case .cancelled: .isOurs
    case .sinkFailed: [.isOurs, .isLocal]
    case .storageFull: .isLocal
    // A status counts by its number.
    case .status, .engineStartFailed, .usedAfterFork, .outOfMemory, .tooManyOpenFiles, .uploadSourceFailed,
      .uploadLengthMismatch, .resumeMismatch, .storeOpenFailed, .storeInUse, .storeCorrupt, .storeBusy,
      .storeFailed, .frozenExpired, .frozenRejected, .frozenPoisoned, .outcomeUnknown:
      []
    }
  }

  var stage: FailureStage {
    switch word {
    case .offline: .route
    case .resolveFailed: .name
    case .connectFailed: .connection
    case .proxyFailed: .proxy
    case .tlsRejected: .handshake
    case .connectionLost, .transportFailed, .http2Failed: .line
    case .timedOut: .time
    case .invalidRequest, .invalidURL, .invalidConfiguration, .notCached, .egressDenied, .queueFull,
      .cancelled, .engineClosed, .engineStartFailed, .usedAfterFork, .outOfMemory, .tooManyOpenFiles,
      .protocolViolation, .truncatedHeaders, .headersTooLarge, .tooManyInformational, .ambiguousFraming,
      .badChunk, .bodyTruncated, .bodyTooLarge, .status, .tooManyRedirects, .redirectCycle, .redirectRefused,
      .badLocation, .authenticationFailed, .decodeFailed, .decompressionLimit, .imageRejected, .sinkFailed,
      .digestMismatch,
      .uploadSourceFailed, .uploadLengthMismatch, .resumeMismatch, .storeOpenFailed, .storeInUse,
      .storeCorrupt, .storageFull, .storeBusy, .storeFailed, .frozenExpired, .frozenRejected,
      .frozenPoisoned, .outcomeUnknown:
      .elsewhere
    }
  }
}
