import ArgumentParser
import NetSpool

/// What `--aws-sigv4` says, as curl reads it: two names of the provider, which are `aws:amz` here, region and service.
/// What is missing stands in the host's name: `service.region.amazonaws.com`.
struct SigningScope: Equatable, Sendable, ExpressibleByArgument {
  let region: String?
  let service: String?

  /// nil for what cannot be meant, other providers included: their fields have other names.
  init?(argument: String) {
    let parts = argument.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
    guard (2...4).contains(parts.count), parts[0].lowercased() == "aws", parts[1].lowercased() == "amz",
      parts.allSatisfy({ !$0.isEmpty })
    else { return nil }
    region = parts.count > 2 ? parts[2] : nil
    service = parts.count > 3 ? parts[3] : nil
  }

  var isWhole: Bool { service != nil }

  /// nil when neither this nor the URL's host names region and service.
  func credentials(_ key: String, _ secret: String, for url: String) -> NetworkCredentials? {
    let labels = URLText.host(url).split(separator: ".").map(String.init)
    let isName = labels.count > 2 && labels.last?.allSatisfy(\.isNumber) == false
    guard let service = service ?? (isName ? labels[0] : nil),
      let region = region ?? (isName ? labels[1] : nil)
    else { return nil }
    return .awsSigV4(accessKey: key, secretKey: secret, region: region, service: service)
  }
}
