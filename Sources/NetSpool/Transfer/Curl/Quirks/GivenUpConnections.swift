internal import CNetSpoolCurl

/// HTTP/2 connections over which a body goes to streams: libcurl 7.88 calls the transfer a success that ends because nghttp2 gave
/// the connection up for what the server has sent, and the body looks whole where neither a length nor a coding tells its end.
///
/// Such a connection is closed behind its last transfer. So is one whose server has said that it takes no more, but of that
/// libcurl tells (CURLOPT_VERBOSE), to any transfer of the connection: all of them are asked to listen from the moment on when the
/// first of them has streams. Before, nothing was said, as libcurl begins no request on a connection that goes away.
struct GivenUpConnections {
  private struct Connection {
    var transfers: [Transfer] = []
    var isWatched = false
    /// It ends for a reason that libcurl has told.
    var isExcused = false
  }

  /// By the port at our end.
  private var connections: [Int: Connection] = [:]

  /// The request of a transfer is about to be sent on a connection.
  mutating func join(_ transfer: Transfer, port: Int, isReused: Bool) {
    leave(transfer)
    transfer.exchange.sharedPort = port
    var connection = isReused ? connections[port] ?? Connection() : Connection()
    connection.transfers.append(transfer)
    if transfer.exchange.fanout != nil { connection.isWatched = true }
    if connection.isWatched { for transfer in connection.transfers { transfer.listen() } }
    connections[port] = connection
  }

  mutating func leave(_ transfer: Transfer) {
    guard let port = transfer.exchange.sharedPort else { return }
    connections[port]?.transfers.removeAll { $0 === transfer }
  }

  /// The connection may be closed for a reason that is known.
  mutating func excuse(port: Int) { connections[port]?.isExcused = true }

  /// The last transfer has left the connection open: it was good for all of them, whose ends may not have been seen yet.
  mutating func didStay(port: Int) {
    for transfer in connections[port]?.transfers ?? [] { transfer.exchange.sharedPort = nil }
    connections[port]?.transfers = []
  }

  /// The connection is closed; it is remembered for the transfers that are still on it.
  mutating func didClose(port: Int) {
    if connections[port]?.transfers.isEmpty == true { connections[port] = nil }
  }

  /// True when a connection that is closed now was given up.
  func isGivenUp(port: Int) -> Bool { connections[port].map { $0.isWatched && !$0.isExcused } ?? false }

  func isShared(port: Int) -> Bool { connections[port].map { $0.transfers.count > 1 } ?? false }
}

extension MultiHandle {
  /// A transfer has ended well, and only its connection can tell whether its body is whole. The others of the connection have
  /// not noticed if that was given up, and keep it open: they are made to look, one in each call, as long as one ends by that.
  func haveOthersLook(at port: Int) {
    guard givenUp.isGivenUp(port: port), givenUp.isShared(port: port) else { return }
    for descriptor in book.descriptors(port: port) {
      var (before, running) = (Int32(-1), Int32(0))
      while running != before, book.descriptors(port: port).contains(descriptor) {
        before = running
        call { unsafe curl_multi_socket_action(multi, descriptor, CURL_CSELECT_IN, &running) }
      }
    }
  }

  func isGivenUp(port: Int) -> Bool { givenUp.isGivenUp(port: port) && book.descriptors(port: port).isEmpty }
}

extension Transfer {
  /// libcurl has it no longer, or is about to be told.
  func leaveShared() {
    guard let port = exchange.sharedPort else { return }
    if handle.endsConnection { multi.givenUp.excuse(port: port) }
    multi.givenUp.leave(self)
  }

  /// Has libcurl say what it does.
  func listen() {
    guard !exchange.tells else { return }
    exchange.tells = true
    handle.setTells(true)
  }

  static func givenUp(after bytes: Int64) -> NetworkError {
    NetworkError(
      .bodyTruncated, reason: "got \(bytes) of more bytes, as the server broke HTTP/2", sendState: .answered)
  }

  /// Only the end of its connection tells whether the body of an answer that has ended well is whole.
  var mayBeGivenUp: Bool { exchange.head != nil && !handle.endsConnection && completeness == .closeDelimited }
}
