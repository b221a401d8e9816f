import Glibc
import NetSpool

/// The words of a failure for a user at a shell: the library's sentence, and what to do about it.
enum FailureAdvice {
  /// - Parameter proxyKnowsUser: whether a proxy was told who is asking.
  static func text(_ error: NetworkError, proxyKnowsUser: Bool = true) -> String {
    if let sentence = SettingAdvice.sentence(error) { return (error.url.map { "\($0): " } ?? "") + sentence }
    let text = error.sentence
    return advice(error, proxyKnowsUser: proxyKnowsUser).map { "\(text): \($0)" } ?? text
  }

  static func sentence(_ error: any Error) -> String {
    (error as? NetworkError).map { text($0) } ?? "\(error)"
  }

  /// What is said of a body that could not be written; a path of nil is standard output.
  static func ofWriting(_ error: NetworkError, to path: String?) -> String {
    guard let code = error.errno else { return text(error) }
    let failure = IOFailure(action: "write", path: path ?? "standard output", code: code)
    switch code {
    case ENOENT, ENOTDIR: return "\(failure); --create-dirs makes folders that are missing"
    case ELOOP: return "\(failure); the name is a symbolic link, which is neither followed nor replaced"
    case EEXIST where error.cause == .part:
      return "\(failure): \(path ?? "").netspool-part is not of this program, and is left alone"
    case EAGAIN where error.cause == .part: return "\(failure): another program goes on with it"
    default: return "\(failure)"
    }
  }

  /// Nil where there is nothing to do that the sentence does not say.
  static func advice(_ error: NetworkError, proxyKnowsUser: Bool = true) -> String? {
    switch error.code {
    case .invalidRequest where error.cause == .headerName:
      "Content-Length and Transfer-Encoding follow from what is sent: leave them out of --header"
    case .resolveFailed: "look at its name in the URL, and whether this machine has a network"
    case .connectFailed where error.cause == .refused:
      "nobody listens there: look at the host and the port in the URL, and at options that lead elsewhere"
    case .connectFailed:
      "no way leads there: look at the host in the URL, and whether this machine has a network"
    case .decompressionLimit:
      "so few bytes became so many; --no-compressed fetches them as they are sent, to be unpacked by hand"
    case .authenticationFailed: authentication(error.response)
    case .proxyFailed: proxy(error, knowsUser: proxyKnowsUser)
    case .tlsRejected: tls(error)
    case .status: error.response.flatMap(status)
    case .timedOut where error.cause == .connect: "--connect-timeout gives the connection more time"
    case .timedOut where error.cause == .total: "--max-time gives it more time, 0 all there is"
    case .redirectRefused where error.cause == .downgrade:
      "the server leads from https to http; ask for the http:// URL itself if you trust the way"
    case .redirectRefused where error.cause == .body:
      "the server leads elsewhere without saying that the body goes along: --no-location shows where, and a command "
        + "of your own sends it there"
    case .redirectCycle: "the server leads in a circle: --no-location shows its first answer"
    case .tooManyRedirects: "--max-redirs follows more of them"
    case .resumeMismatch: "what was there of it is no part of the file any more: the same command begins anew"
    default: nil
    }
  }

  private static func authentication(_ response: NetworkResponse?) -> String? {
    let offers = response?.headers.values(for: "WWW-Authenticate") ?? []
    let schemes = offers.compactMap { $0.split(separator: " ").first.map { $0.lowercased() } }
    if schemes.contains("digest") { return "the server asks for Digest: add --digest, or --anyauth" }
    if schemes.contains("ntlm") { return "the server asks for NTLM: add --ntlm, with 'DOMAIN\\user'" }
    if schemes.contains("basic") { return "the server did not accept user and password" }
    return schemes.isEmpty ? nil : "the server asks for \(schemes.joined(separator: ", "))"
  }

  /// Says what helps when the request did not say who is asking.
  private static func stranger(_ response: NetworkResponse) -> String {
    let offers = response.headers.values(for: "WWW-Authenticate").joined(separator: ",").lowercased()
    if offers.contains("digest") {
      return "the server asks who you are, by Digest: --user with --digest says it"
    }
    if offers.contains("ntlm") { return "the server asks who you are, by NTLM: --user with --ntlm says it" }
    if offers.contains("bearer") { return "the server asks for a token: --oauth2-bearer has it" }
    return "the server asks who you are: --user says it, or a cookie"
  }

  private static func status(_ response: NetworkResponse) -> String? {
    switch response.status {
    case 401: stranger(response)
    case 403: "the server does not let you; perhaps it wants --user, a cookie or another User-Agent"
    case 404, 410: "there is nothing at this address: look at the URL"
    case 405: "the server has another method for this URL: --request names one"
    case 407: strangerToProxy
    case 413: "the body is too long for this server"
    case 416: "the server has no such bytes: without --range or --continue-at the whole is fetched"
    case 429: "the server wants fewer requests: try again later, or with more --retry"
    case 500...: "the server has a problem of its own: try again later, or with more --retry"
    default: nil
    }
  }

  private static let strangerToProxy = "the proxy wants to know who you are: --proxy-user user:password"

  private static func proxy(_ error: NetworkError, knowsUser: Bool) -> String? {
    switch error.cause {
    case .authentication where !knowsUser: strangerToProxy
    case .authentication: "the proxy did not accept --proxy-user, or the user in its URL"
    case .connect: "the proxy cannot be reached: --proxy '' asks without, --noproxy names exceptions"
    default: "the proxy is that of --proxy, or of http_proxy, https_proxy or all_proxy in the environment"
    }
  }

  private static func tls(_ error: NetworkError) -> String? {
    switch error.cause {
    case .trustStore:
      "the file of authorities cannot be read: look at --cacert, CURL_CA_BUNDLE and SSL_CERT_FILE"
    case .clientCertificate: "the client certificate cannot be used: look at --cert, --key and --pass"
    case .hostMismatch: "the certificate is for another host; --insecure believes anybody"
    case .untrusted, .expired: "--cacert names an authority that you trust; --insecure believes anybody"
    case .notYetValid: "the certificate begins later: is the clock of this machine right?"
    case .weak: "the server's keys are too weak to be believed; --insecure believes anybody"
    case .protocol:
      "the server does not speak TLS there, or none that is known here: is it http://, or another port?"
    default: "no safe connection came about; -v shows how far it came"
    }
  }
}
