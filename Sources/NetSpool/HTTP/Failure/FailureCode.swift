/// What went wrong, one word. The list is closed here and open in the public `NetworkError.Code`.
enum FailureCode: String, Sendable, CaseIterable {
  case invalidRequest, invalidURL, invalidConfiguration, notCached, egressDenied, queueFull, cancelled
  case engineClosed, engineStartFailed, usedAfterFork, outOfMemory, tooManyOpenFiles, offline
  case resolveFailed, connectFailed, timedOut, connectionLost, proxyFailed, transportFailed, tlsRejected
  case protocolViolation, truncatedHeaders, headersTooLarge, tooManyInformational, ambiguousFraming
  case badChunk, bodyTruncated, bodyTooLarge, http2Failed, status, tooManyRedirects, redirectCycle
  case redirectRefused, badLocation, authenticationFailed, decodeFailed, decompressionLimit, sinkFailed
  case uploadSourceFailed, uploadLengthMismatch, resumeMismatch, storeOpenFailed, storeInUse, storeCorrupt
  case storageFull, storeBusy, storeFailed, frozenExpired, frozenRejected, frozenPoisoned, outcomeUnknown
}
