import Glibc
import NetSpool

/// Failures whose own sentence names a part of the library: at a shell they are about an option, or about this machine.
enum SettingAdvice {
  /// Nil where the library's sentence will do.
  static func sentence(_ error: NetworkError) -> String? {
    switch error.code {
    case .invalidConfiguration: error.cause.flatMap(option)
    case .engineStartFailed, .tooManyOpenFiles:
      error.errno == EMFILE || error.errno == ENFILE
        ? "this process may open too few files: 'ulimit -n' says how many, and raises them" : nil
    // What one of the tool's own streams has said.
    case .sinkFailed where error.errno == nil: error.subject
    default: nil
    }
  }

  private static func option(_ cause: NetworkError.Cause) -> String? {
    switch cause {
    case .allowsCredentialsInClear: "credentials go over plain HTTP only to this machine, or with --in-clear"
    case .proxy:
      "a proxy is '[http|https|socks5h://][user:password@]host[:port]', in --proxy or in http_proxy, https_proxy or "
        + "all_proxy; socks4 is not known"
    case .trustFile: "the file of authorities in --cacert or CURL_CA_BUNDLE is no plain file"
    case .environmentTrustFile: "SSL_CERT_FILE names no plain file"
    case .trustFolder: "--capath names no folder"
    case .environmentTrustFolder: "SSL_CERT_DIR names no folder"
    case .allowedInterfaces: "--interface is the name of an interface of this machine: 'ip link' lists them"
    case .unixSocket: "--unix-socket is the path of a socket, of at most 107 bytes"
    case .clientCertificate: "--cert and --key name plain files"
    case .credentials:
      "user and password have no control characters, and the name of a user by Basic has no colon"
    case .lacksNTLM: "this machine's libcurl does not know --ntlm"
    case .headers: "there is a --header that cannot be sent"
    case .resolve: "--resolve is 'host:port:address' with an address in numbers; a host of '*' is not known"
    case NetworkError.Cause("connectTo"): "--connect-to is 'host1:port1:host2:port2'"
    default: nil
    }
  }
}
