/// One line of the test server's access log.
struct LoggedRequest: Sendable, Hashable {
  let method: String
  /// Path and query as they were sent.
  let target: String
  let status: Int
  let bodyBytesSent: Int
  /// nginx's number of the connection: equal for requests that shared it.
  let connection: Int
  /// 1 for the first request on its connection.
  let numberOnConnection: Int
  /// `HTTP/1.1` or `HTTP/2.0`.
  let version: String

  init?(_ line: Substring) {
    let words = line.split(separator: " ")
    guard words.count == 7, let status = Int(words[2]), let bytes = Int(words[3]),
      let connection = Int(words[4]),
      let number = Int(words[5])
    else { return nil }
    method = String(words[0])
    target = String(words[1])
    self.status = status
    bodyBytesSent = bytes
    self.connection = connection
    numberOnConnection = number
    version = String(words[6])
  }
}
