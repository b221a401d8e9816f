extension NetworkError {
  /// The cause of a failure within its code, in one word: for logic, as ``NetworkError/reason`` is for people. An open list:
  /// later versions may add words, so a `switch` needs a `default`.
  public struct Cause: Hashable, Sendable, CustomStringConvertible {
    /// The word itself.
    public let description: String

    package init(_ word: String) { description = word }
  }
}

extension NetworkError.Cause {
  // MARK: Of `resolveFailed` and `connectFailed`

  /// No name server knows the name.
  public static let notFound = Self("notFound")
  /// No program listens there.
  public static let refused = Self("refused")
  /// The connection was ended while it was made.
  public static let reset = Self("reset")
  /// There is no route to the address.
  public static let unreachable = Self("unreachable")
  /// No local port was left.
  public static let addressInUse = Self("addressInUse")

  // MARK: Of `timedOut`: the limit that was passed

  /// ``NetworkRequest/Timeouts/connect``. Of `proxyFailed` as well: the proxy could not be reached.
  public static let connect = Self("connect")
  /// ``NetworkRequest/Timeouts/headers``.
  public static let headers = Self("headers")
  /// ``NetworkRequest/Timeouts/stall``, by the origin.
  public static let stall = Self("stall")
  /// ``NetworkRequest/Timeouts/total``, or that of one attempt.
  public static let total = Self("total")
  /// ``NetworkRequest/Timeouts/reader``.
  public static let reader = Self("reader")
  /// ``NetworkRequest/Timeouts/queueDeadline``.
  public static let queueDeadline = Self("queueDeadline")
  /// ``NetworkRequest/Timeouts/stall``, by a stream or the disk that it writes to.
  public static let sink = Self("sink")

  // MARK: Of `proxyFailed` and `http2Failed`

  /// The proxy does not accept the account.
  public static let authentication = Self("authentication")
  /// The proxy's answer is an error, or none at all.
  public static let response = Self("response")
  /// The peer sent more control frames than any honest one does.
  public static let flood = Self("flood")

  // MARK: Of `invalidURL`, `invalidRequest` and `redirectRefused`

  /// Neither http nor https; of a redirect: not the scheme that the policy asks for.
  public static let scheme = Self("scheme")
  /// From https to http.
  public static let downgrade = Self("downgrade")
  /// With a body that may not go along; of a request: a HEAD with one.
  public static let body = Self("body")
  /// The name of a field.
  public static let headerName = Self("headerName")
  /// The operation had been enqueued before.
  public static let enqueued = Self("enqueued")

  // MARK: Of `tlsRejected`

  /// The authorities could not be read.
  public static let trustStore = Self("trustStore")
  /// The certificate of this side cannot be used, or was refused. Of `invalidConfiguration` as well.
  public static let clientCertificate = Self("clientCertificate")
  /// No authority that is trusted has signed it.
  public static let untrusted = Self("untrusted")
  /// The certificate's time is over.
  public static let expired = Self("expired")
  /// The certificate's time has not begun.
  public static let notYetValid = Self("notYetValid")
  /// The certificate is for other names.
  public static let hostMismatch = Self("hostMismatch")
  /// None of the pinned keys was shown.
  public static let pinMismatch = Self("pinMismatch")
  /// Keys or signatures that are too weak.
  public static let weak = Self("weak")
  /// The handshake came to no agreement.
  public static let `protocol` = Self("protocol")

  // MARK: Of `offline` and `invalidConfiguration`: the setting

  /// ``NetworkEngine/Configuration/allowedInterfaces``: none of them leads there, or a name that none can have.
  public static let allowedInterfaces = Self("allowedInterfaces")
  /// ``NetworkEngine/Configuration/allowsCredentialsInClear``.
  public static let allowsCredentialsInClear = Self("allowsCredentialsInClear")
  /// ``NetworkEngine/Configuration/credentials``.
  public static let credentials = Self("credentials")
  /// ``NetworkEngine/Configuration/proxy``.
  public static let proxy = Self("proxy")
  /// ``NetworkEngine/Configuration/resolve``.
  public static let resolve = Self("resolve")
  /// ``NetworkEngine/Configuration/unixSocket``.
  public static let unixSocket = Self("unixSocket")
  /// The file of authorities.
  public static let trustFile = Self("tls.caFile")
  /// The folder of authorities.
  public static let trustFolder = Self("tls.caPath")
  /// The file of authorities that the environment names.
  public static let environmentTrustFile = Self("SSL_CERT_FILE")
  /// The folder of authorities that the environment names.
  public static let environmentTrustFolder = Self("SSL_CERT_DIR")
  /// This machine's libcurl was built without NTLM.
  public static let lacksNTLM = Self("libcurl without NTLM")

  // MARK: Of `queueFull`: the limit that was reached

  /// ``NetworkEngine/Limits/operationsQueuedMax``.
  public static let operations = Self("operations")
  /// ``FreezeConfiguration/requestsMax``.
  public static let frozenRecords = Self("frozenRecords")
  /// ``FreezeConfiguration/bytesMax``.
  public static let frozenBytes = Self("frozenBytes")

  // MARK: Of `cancelled` and `engineClosed`

  /// Only the wait has ended: the frozen request stays on the disk.
  public static let frozen = Self("frozen")

  // MARK: Of `storeOpenFailed`, `storeInUse` and `storeBusy`

  /// The directory belongs to another user.
  public static let owner = Self("owner")
  /// Others may write into the directory, or this process may not.
  public static let permissions = Self("permissions")
  /// The file system is mounted read-only.
  public static let readOnly = Self("readOnly")
  /// The directory is on a file system of the network, where memory cannot be shared.
  public static let remoteFileSystem = Self("remoteFileSystem")
  /// A link stands where the directory should.
  public static let symlink = Self("symlink")
  /// The path leads through a file, or to a directory in place of a file.
  public static let notAFile = Self("notAFile")
  /// A later release has written the store.
  public static let newerSchema = Self("newerSchema")
  /// Another release of the library has the store open.
  public static let layout = Self("layout")
  /// Another process is opening the store.
  public static let opening = Self("opening")
  /// Another process is writing.
  public static let writing = Self("writing")

  // MARK: Of bodies

  /// Of `sinkFailed`: the file beside the target that a download goes on with.
  public static let part = Self("part")
  /// Of `uploadSourceFailed`: the file is not the one that was enqueued.
  public static let changed = Self("changed")
  /// Of `decodeFailed`: the body is no picture.
  public static let notAnImage = Self("notAnImage")
  /// The picture is cut off.
  public static let imageTruncated = Self("imageTruncated")
  /// Of `imageRejected`: no format that is decoded here.
  public static let format = Self("format")
  /// Of `imageRejected`: more pixels than the limit.
  public static let pixels = Self("pixels")
  /// Of `imageRejected`: the decoder found the picture damaged.
  public static let damaged = Self("damaged")
  /// Of `imageRejected`: decoding took longer than the limit.
  public static let time = Self("time")
  /// Of `imageRejected`: the decoder had no memory.
  public static let memory = Self("memory")
  /// Of `imageRejected`: the decoder's process died.
  public static let crashed = Self("crashed")

  // MARK: Of `engineStartFailed`

  /// No further thread.
  public static let threads = Self("threads")
  /// No further descriptor.
  public static let files = Self("files")
  /// No process that decodes pictures. Of `tooManyOpenFiles` as well.
  public static let decoder = Self("decoder")
  /// No event loop.
  public static let loop = Self("loop")
}
