/// Where the time of one transfer went; all times in microseconds.
package struct TransferMetrics: Sendable {
  package var queueWait: Int64 = 0
  package var nameLookup: Int64 = 0
  package var connect: Int64 = 0
  package var tlsHandshake: Int64 = 0
  package var firstByte: Int64 = 0
  package var total: Int64 = 0
  package var bytesReceived: Int64 = 0
  package var bytesSent: Int64 = 0
  package var connectionReused = false
  package var attempts = 1
  package var redirects = 0

  package init() {}
}
