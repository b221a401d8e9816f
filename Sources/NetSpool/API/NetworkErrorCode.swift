extension NetworkError {
  /// The kind of failure, in one word. Open: a later version may add codes, so a `switch` needs a default.
  public struct Code: Hashable, Sendable, CustomStringConvertible {
    /// The closed list behind the open type: every classification of failures is an exhaustive `switch` over it.
    let word: Word

    init(_ word: Word) { self.word = word }

    /// The word itself.
    public var description: String { word.rawValue }

    enum Word: String, Sendable, CaseIterable {
      case invalidRequest, invalidURL, invalidConfiguration, notCached, egressDenied, queueFull, cancelled
      case engineClosed, engineStartFailed, usedAfterFork, outOfMemory, tooManyOpenFiles, offline
      case resolveFailed, connectFailed, timedOut, connectionLost, proxyFailed, transportFailed, tlsRejected
      case protocolViolation, truncatedHeaders, headersTooLarge, tooManyInformational, ambiguousFraming
      case badChunk, bodyTruncated, bodyTooLarge, http2Failed, status, tooManyRedirects, redirectCycle
      case redirectRefused, badLocation, authenticationFailed, decodeFailed, decompressionLimit, imageRejected
      case sinkFailed, uploadSourceFailed, uploadLengthMismatch, resumeMismatch, digestMismatch
      case storeOpenFailed, storeInUse, storeCorrupt, storageFull, storeBusy, storeFailed, frozenExpired
      case frozenRejected, frozenPoisoned, outcomeUnknown
    }
  }
}

extension NetworkError.Code {
  // MARK: Refused before anything was queued or sent

  /// A method, header name, header value or body that no origin may see.
  public static let invalidRequest = Self(.invalidRequest)
  /// Not an absolute http or https URL, or one with control bytes or over 8 KiB.
  public static let invalidURL = Self(.invalidURL)
  /// An option out of its range; `reason` names it.
  public static let invalidConfiguration = Self(.invalidConfiguration)
  /// The cache was to answer alone and holds nothing.
  public static let notCached = Self(.notCached)
  /// The egress rule forbids the address.
  public static let egressDenied = Self(.egressDenied)
  /// The queue holds as much as it may.
  public static let queueFull = Self(.queueFull)

  // MARK: Ended from our side

  /// Cancelled by its user.
  public static let cancelled = Self(.cancelled)
  /// The engine was shut down.
  public static let engineClosed = Self(.engineClosed)
  /// No loop thread could be started, `underlying` says why; or no process to decode a picture, `decoder`.
  public static let engineStartFailed = Self(.engineStartFailed)
  /// Used in a child of fork(2) of a process that has used the library: no thread of it is there. The closures run on
  /// the thread that enqueues. A child that sends requests of its own must call exec(3) first.
  public static let usedAfterFork = Self(.usedAfterFork)
  /// A C library could not allocate.
  public static let outOfMemory = Self(.outOfMemory)
  /// The process or the system is out of descriptors.
  public static let tooManyOpenFiles = Self(.tooManyOpenFiles)

  // MARK: The way to the origin

  /// No connection came about, and this machine has no route to others; `underlying` says what was met.
  public static let offline = Self(.offline)
  /// The name could not be resolved.
  public static let resolveFailed = Self(.resolveFailed)
  /// `refused`, `unreachable`, `reset` or `addressInUse`.
  public static let connectFailed = Self(.connectFailed)
  /// `connect`, `headers`, `stall`, `total` or `queueDeadline`.
  public static let timedOut = Self(.timedOut)
  /// The connection went away before the answer was whole.
  public static let connectionLost = Self(.connectionLost)
  /// The proxy refused, failed or spoke nonsense.
  public static let proxyFailed = Self(.proxyFailed)
  /// A libcurl code without a word of its own; see `underlying`.
  public static let transportFailed = Self(.transportFailed)
  /// The certificate or the TLS handshake was refused; `reason` says why.
  public static let tlsRejected = Self(.tlsRejected)

  // MARK: The answer

  /// The answer breaks HTTP; `reason` says what was seen.
  public static let protocolViolation = Self(.protocolViolation)
  /// The connection ended inside the header block.
  public static let truncatedHeaders = Self(.truncatedHeaders)
  /// A `line`, the `total`, the `count` or the `trailers` went over their limit.
  public static let headersTooLarge = Self(.headersTooLarge)
  /// More than 32 informational (1xx) answers.
  public static let tooManyInformational = Self(.tooManyInformational)
  /// Two readings of where the body ends are possible, so neither is believed.
  public static let ambiguousFraming = Self(.ambiguousFraming)
  /// A chunk of a chunked body is malformed.
  public static let badChunk = Self(.badChunk)
  /// The body ended early.
  public static let bodyTruncated = Self(.bodyTruncated)
  /// The body is over its limit.
  public static let bodyTooLarge = Self(.bodyTooLarge)
  /// An HTTP/2 stream or connection error.
  public static let http2Failed = Self(.http2Failed)
  /// The origin answered 400 or more, or `validate` refused the answer; it is in `response`.
  public static let status = Self(.status)
  /// More redirects than the policy follows.
  public static let tooManyRedirects = Self(.tooManyRedirects)
  /// A redirect led back to where it came from.
  public static let redirectCycle = Self(.redirectCycle)
  /// `scheme`, `downgrade` or `body`.
  public static let redirectRefused = Self(.redirectRefused)
  /// A `Location` that is no URL.
  public static let badLocation = Self(.badLocation)
  /// The credentials were not accepted.
  public static let authenticationFailed = Self(.authenticationFailed)
  /// The compressed body is damaged, cut off or in an unknown coding.
  public static let decodeFailed = Self(.decodeFailed)
  /// The compressed body unfolds too far.
  public static let decompressionLimit = Self(.decompressionLimit)

  /// A picture came that no thumbnail can or may be made of: `format`, `pixels`, `damaged`, `time`, `memory` or
  /// `crashed`. Of the product NetSpoolImages.
  public static let imageRejected = Self(.imageRejected)

  // MARK: Bodies in and out

  /// A stream could not take the body; `reason` names the stream.
  public static let sinkFailed = Self(.sinkFailed)
  /// A file or stream to upload is missing, unreadable or has changed.
  public static let uploadSourceFailed = Self(.uploadSourceFailed)
  /// An upload was shorter or longer than it declared.
  public static let uploadLengthMismatch = Self(.uploadLengthMismatch)
  /// The rest of a download does not belong to the part that is there.
  public static let resumeMismatch = Self(.resumeMismatch)
  /// A body has another SHA-256 than the stream was told; nothing was published.
  public static let digestMismatch = Self(.digestMismatch)

  // MARK: The stores

  /// The directory cannot be used: `notAFile`, `symlink`, `owner`, `permissions`, `readOnly`,
  /// `remoteFileSystem`, `version`, `pageSize` or `newerSchema`. Nothing in it was changed.
  public static let storeOpenFailed = Self(.storeOpenFailed)
  /// Another process has it open for itself; `reason` is its number, or `layout` when it is another version.
  public static let storeInUse = Self(.storeInUse)
  /// Another process was opening it and did not end.
  public static let storeBusy = Self(.storeBusy)
  /// The store was damaged and has been moved aside.
  public static let storeCorrupt = Self(.storeCorrupt)
  /// The disk has no room.
  public static let storageFull = Self(.storageFull)
  /// LMDB or the disk failed; see `underlying`.
  public static let storeFailed = Self(.storeFailed)

  // MARK: Frozen requests

  /// The frozen request could not be sent in its lifetime.
  public static let frozenExpired = Self(.frozenExpired)
  /// The origin said no: the answer is inside, `reason` is its status.
  public static let frozenRejected = Self(.frozenRejected)
  /// Too many attempts failed, or took the process with them; `reason` says which and how many.
  public static let frozenPoisoned = Self(.frozenPoisoned)
  /// The origin may have acted on it, and sending it again could have its effect twice.
  public static let outcomeUnknown = Self(.outcomeUnknown)
}
