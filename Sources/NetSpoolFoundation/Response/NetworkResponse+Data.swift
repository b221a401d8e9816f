public import Foundation
public import NetSpool

extension Data {
  /// The bytes of a body, copied once. Empty when the body went to streams.
  public init(_ body: ResponseBody) { self.init([UInt8](body)) }
}

extension NetworkResponse {
  /// The bytes of the body, copied at each call; empty when there is no body or it went to streams.
  public var data: Data { Data(body) }

  /// The URL that answered, after redirects. Nil when Foundation cannot read it; `finalURL` has its text.
  public var url: URL? { URL(string: finalURL) }
}
