extension NetworkError {
  /// The cause of a failure within its code, for logic. The reason is for people, and is never read back.
  package enum Cause: String, Sendable {
    /// Of `connectFailed`.
    case refused, reset, unreachable, addressInUse
    /// Of `timedOut`: the limit that was passed. `connect` also of `proxyFailed`: the proxy could not be reached.
    case connect, headers, stall, total, reader, queueDeadline
    /// Of `timedOut`: a stream, or the disk that it writes to, did not get on within the stall limit.
    case sink
    /// Of `proxyFailed`: the proxy does not take who we say we are.
    case authentication
    /// Of `invalidURL` and `redirectRefused`: neither http nor https, or no longer https.
    case scheme
    /// Of `redirectRefused`: from https to http; with a body that may not go along.
    case downgrade, body
    /// Of `invalidRequest`.
    case headerName
    /// Of `tlsRejected`.
    case trustStore, clientCertificate, untrusted, expired, notYetValid, hostMismatch, weak, `protocol`
    /// Of `storeOpenFailed`.
    case owner, permissions, readOnly, remoteFileSystem
    /// Of `storeBusy`: what another process is about.
    case opening, writing
    /// Of `storeInUse`: another version has it.
    case layout
    /// Of `sinkFailed`: the file beside the target that a download goes on with.
    case part
    /// Of `invalidConfiguration`: the option. So are `headers` and `clientCertificate`.
    case allowsCredentialsInClear, credentials, proxy, resolve, unixSocket
    case trustFile = "tls.caFile"
    case trustFolder = "tls.caPath"
    case environmentTrustFile = "SSL_CERT_FILE"
    case environmentTrustFolder = "SSL_CERT_DIR"
    case lacksNTLM = "libcurl without NTLM"
  }
}
