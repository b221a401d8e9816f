public import Dispatch

#if Logging
public import Logging
#endif

extension NetworkEngine {
  /// The settings of an engine: a value, checked when the engine is made. Every one has a safe default.
  public struct Configuration: Sendable {
    /// All defaults.
    public init() {}

    /// The scheme of operations made from a path; https by default.
    public var scheme = Scheme.https
    /// The port of operations made from a path; nil is the scheme's own port. Outside 1...65535: `.invalidConfiguration`.
    public var port: Int?
    /// Goes before every path; empty by default.
    public var basePath = ""
    /// Sent with every request, absolute URLs included; a request's own win. `User-Agent` is
    /// `<process>/<applicationVersion>` unless it stands here.
    public var headers: NetworkRequest.Headers = [:]
    /// Names of fields that are not sent although they go with every request, such as `User-Agent`, `Accept` and `Expect`.
    package var omittedFields: [String] = []
    /// Names of fields that hold secrets besides those whose words say so (`Authorization`, `X-Api-Key`, `X-CSRFToken`,
    /// `DPoP` and their like), in any case; none by default. The value of a secret field is shown in no log, error or
    /// curl command, is not written down with a frozen request, and keeps cached answers apart.
    public var secretFields: [String] = []
    /// Names of fields that hold no secret and name no person, whatever their words say; none by default.
    /// Without it `X-Sort-Key` is secret, and `X-User-Id` keeps cached answers apart.
    public var openFields: [String] = []
    /// Names this version of the program in `User-Agent`; `1.0` by default.
    public var applicationVersion = "1.0"
    /// Names the directories of what is stored; `default`. At most 64 bytes, no `/`.
    public var storageName = "default"
    /// The queue in which operations wait and run; `.shared`, one for the process, by default.
    public var queue = NetworkQueue.shared
    /// The thread or queue on which closures run; the engine's own serial queue by default.
    public var delivery = Delivery.serialQueue
    /// Time limits of every operation.
    public var timeouts = NetworkRequest.Timeouts()
    /// When a failed attempt is repeated; one silent repeat on a dead connection by default.
    public var retry = NetworkRequest.Retry.deadConnection
    /// Which redirects are followed; at most 10 by default.
    public var redirects = NetworkRequest.Redirects.standard
    /// The account that requests are sent for; none by default. Credentials go to this engine's own origin (scheme, host and port)
    /// only, so they need a `host`; a request's own credentials win.
    public var credentials: NetworkCredentials?
    /// Lets `Authorization` that is no proof for one request (Basic, Bearer, tokens of any scheme), and fields of
    /// `NetworkCredentials`, go over plain HTTP, where every machine on the
    /// way can read them; false by default. Without it such a request ends with `.invalidConfiguration`,
    /// before a byte is sent. This machine is always allowed: `localhost` and names below it, 127.0.0.0/8,
    /// ::1 and ::ffff:127.0.0.0/104.
    public var allowsCredentialsInClear = false
    /// The proof that an origin must give of its name; verified by default.
    public var tls = TLS()
    /// The proxy between this engine and its origins; none by default, whatever the environment says. A text
    /// will do: `"http://proxy.example:3128"`.
    public var proxy: NetworkEngine.Proxy?
    /// To which addresses connections may be made; any by default. With a rule and a proxy the engine is refused
    /// (`.invalidConfiguration`): the proxy resolves the names, so no rule of ours could hold.
    public var egress = NetworkEngine.Egress.any
    /// Addresses of names, instead of what the system's resolver says; none by default. A name is `api.example.com`, or
    /// `api.example.com:8443` for one port only, which goes first; the addresses are tried in their order. URL, `Host`
    /// and certificate stay those of the name. Anything that is no address: `.invalidConfiguration`. Of no effect behind a
    /// proxy, which resolves the names (CURLOPT_RESOLVE(3)).
    public var resolve: [String: [String]] = [:]
    /// The socket in the file system to which every connection of this engine goes, whatever host its URLs name; none by
    /// default. At most 107 bytes. Not together with `proxy` or `egress` (`.invalidConfiguration`).
    public var unixSocket: String?
    /// Other hosts and ports to which connections lead, as curl's option has them; URL, `Host` and certificate stay.
    package var connectTo: [String] = []
    /// True: addresses of IPv4 alone are connected to; false: of IPv6; nil: of both.
    package var isIPv4: Bool?
    /// The network interfaces over which this engine may send, by name: `["eth0"]`, `["wl*"]` for all whose names begin so;
    /// nil, the default: any. While none of them leads to others, its operations wait, and end with `.offline`
    /// (`allowedInterfaces`) at `timeouts.queueDeadline`; other engines go on. Connections are bound to the best of them
    /// (SO_BINDTODEVICE of socket(7); before Linux 5.7 only with CAP_NET_RAW, else `.invalidConfiguration`). Names are looked
    /// up over any; what is on this machine (`localhost`, 127.0.0.0/8, ::1) is reached always. Empty, a whole name that no
    /// interface has now (`tun0*` may come later), or together with `unixSocket`: `.invalidConfiguration`.
    public var allowedInterfaces: [String]?
    /// Which HTTP is spoken; HTTP/2 where TLS agrees on it by default.
    public var httpVersion = HTTPVersion.automatic
    /// Connections older than this get no further request; nil, the default, is none: they are used as long as they are
    /// good. In whole seconds, rounded down; less than one: `.invalidConfiguration` (CURLOPT_MAXLIFETIME_CONN(3)).
    public var connectionAgeMax: Duration?
    /// The treatment of cookies; none are kept by default.
    public var cookies = NetworkEngine.Cookies.none
    /// Cookies that are there from the start, with `.inMemory`: lines of Netscape's file.
    package var cookieLines: [String] = []
    /// Hears of all heads on the wire, on the loop thread and inside libcurl: for `-v`.
    package var onWire: (@Sendable (WireHead) -> Void)?
    /// Limits of an answer's size.
    public var limits = Limits()
    /// The longest that a `Retry-After` in an answer to this engine keeps the queue's other requests from that origin
    /// (`.adaptive` sizing); 30 s. Then one of them goes ahead, and the others follow if it is answered. Engines with a queue
    /// of their own know nothing of it. The request that was told to wait does so
    /// by its own retry policy. Negative: `.invalidConfiguration`.
    public var originPauseMax = Duration.seconds(30)
    /// Bytes that one read from the network takes, 16 KiB by default; large downloads want 512 KiB.
    public var receiveBufferBytes = 16 << 10
    /// May change each request once, on the thread that enqueues it; throwing ends the operation with that
    /// `NetworkError`, or with `.invalidRequest`.
    public var prepare: (@Sendable (inout NetworkRequest) throws -> Void)?
    /// Decides whether an answer is a success, on the delivery target: returning accepts any status, throwing
    /// makes it an error with the answer inside. Nil accepts all below 400. Streams have ended by then: a file
    /// whose answer it refuses is there.
    public var validate: (@Sendable (NetworkResponse) throws -> Void)?
    /// Hears of every ending, once for each operation and after its own handlers: the operation, how it ended, and where the
    /// time went; on the delivery target. Without an answer only `attempts` and `endToEnd` are known. Frozen requests that an
    /// earlier process left are `onThawed`'s.
    public var onEnd:
      (@Sendable (NetworkOperation, Result<NetworkResponse, NetworkError>, NetworkResponse.Metrics) -> Void)?
    /// Hears of errors that no `onError` was there for, cancellations left out, on the delivery target.
    public var onUnhandledFailure: (@Sendable (NetworkError) -> Void)?
    #if Logging
    /// Gets one debug line per ended operation, secrets masked; nil, the default, is silence.
    public var logger: Logger?
    #endif
  }

  /// The scheme of a URL.
  public enum Scheme: String, Sendable, Hashable {
    /// Plain HTTP.
    case http
    /// HTTP over TLS; the default.
    case https
  }

  /// The thread or queue on which closures run. In each, one operation's closures come in order and never at
  /// the same time.
  public enum Delivery: Sendable {
    /// A serial queue of the engine's own; the default.
    case serialQueue
    /// Your queue. It must be serial for the order to hold.
    case queue(DispatchQueue)
    /// The loop thread itself: least overhead, and everything waits while a closure runs. With several
    /// (``NetworkQueue/Configuration/loops``) closures of different operations may run at once.
    case loopThread
  }

  /// Which HTTP an engine speaks.
  public enum HTTPVersion: String, Sendable, Hashable {
    /// HTTP/2 over TLS where the origin agrees, with at most 100 streams on a connection and without pushes; else HTTP/1.1.
    case automatic
    /// HTTP/1.1 only.
    case http1
    /// As `.automatic` over TLS, and over plain HTTP HTTP/2 without asking (RFC 9113 section 3.3): for origins that are
    /// known to speak it. With libcurl 7 each such request has a connection of its own. An origin that does not ends
    /// with `.http2Failed`, `.protocolViolation` or `.connectionLost`.
    case http2PriorKnowledge
  }

  /// The proof that an origin must give of its name. TLS 1.2 or later, forward secrecy and authenticated
  /// encryption are required. Revocation is not checked. TLS sessions are resumed within the connections of
  /// one identity.
  public struct TLS: Sendable, Hashable {
    /// The system's authorities, no pin.
    public init() {}
    /// A PEM bundle of authorities instead of all of the system's; nil, the default: the bundle that the environment
    /// names in `SSL_CERT_FILE` (openssl-env(7)), or the system's, which is read once a day at most. What the file holds when the
    /// engine is made counts for as long as the engine lives, and says which engines it shares connections and cached answers
    /// with. One that cannot be read, or has no certificate, refuses every connection (`.tlsRejected`, `trustStore`); there is
    /// no fall-back. What is no regular file is refused when the engine is made, `.invalidConfiguration` (`tls.caFile`, or
    /// `SSL_CERT_FILE`).
    public var caFile: String?
    /// A folder of authorities by their hashes (openssl-rehash(1)), beside `caFile` or alone, instead of all of the
    /// system's; nil, the default: the one that the environment names in `SSL_CERT_DIR` if it names no `SSL_CERT_FILE`,
    /// else none. It is read as `caFile` is.
    public var caPath: String?
    /// The public key that must be there: `sha256//<base64>`, several with `;` (CURLOPT_PINNEDPUBLICKEY(3)). Anything else,
    /// and with a `host` whose `scheme` is `.http`: `.invalidConfiguration`.
    public var pinnedPublicKey: String?
    /// Demands that a certificate names its host as subject alternative name; false by default, which also
    /// accepts one that only has a common name (RFC 9110 section 4.3.4 asks for the former). Refused with
    /// `.tlsRejected` (`hostMismatch`) before a byte of the request is sent. Needs a libcurl with OpenSSL or
    /// GnuTLS. Each connection has a whole handshake then: of a session that is resumed not every libcurl shows the certificate.
    public var requiresSubjectAlternativeName = false
    /// Accepts every certificate: a machine on the way can read and change everything. False by default; for
    /// laboratories. The engine's connections and TLS sessions are then kept apart from all others.
    public var unsafelyTrustsAnyCertificate = false
  }

  /// Limits of answers and of the queue.
  public struct Limits: Sendable, Hashable {
    /// All defaults.
    public init() {}

    static let standard = Limits()

    /// A body kept in memory, in bytes; 64 MiB. Over it: `.bodyTooLarge`.
    public var bodyBytesInMemoryMax = 64 << 20
    /// A body that goes to streams, in bytes; none by default.
    public var bodyBytesStreamedMax = Int64.max
    /// Decoded bytes of a compressed body; 256 MiB. Beyond 1 MiB they may also be at most 100 times the
    /// received ones. Over it: `.decompressionLimit`.
    public var decodedBytesMax: Int64 {
      get { decoding.decodedBytesMax }
      set { decoding.decodedBytesMax = newValue }
    }
    /// Operations of the queue that have not ended; 10 million. Over it: `.queueFull`.
    public var operationsQueuedMax = 10_000_000
    /// The limits for a compressed body.
    var decoding = DecodingLimits()

    var hasNegative: Bool {
      bodyBytesInMemoryMax < 0 || bodyBytesStreamedMax < 0 || decodedBytesMax < 0 || operationsQueuedMax < 0
    }
  }
}
