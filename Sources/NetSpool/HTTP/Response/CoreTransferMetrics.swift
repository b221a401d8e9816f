/// Where the time of one transfer went; all times in microseconds.
struct CoreTransferMetrics: Sendable {
  var queueWait: Int64 = 0
  var nameLookup: Int64 = 0
  var connect: Int64 = 0
  var tlsHandshake: Int64 = 0
  var firstByte: Int64 = 0
  var total: Int64 = 0
  var bytesReceived: Int64 = 0
  var bytesSent: Int64 = 0
  var connectionReused = false
  var attempts = 1
  var redirects = 0

  init() {}
}
