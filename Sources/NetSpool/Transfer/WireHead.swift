/// Bytes of a head as libcurl sends or receives them, its own fields included (CURLOPT_DEBUGFUNCTION(3)): of a request
/// mostly all at once, of an answer line by line. Nothing is masked.
package enum WireHead: Sendable {
  case sent([UInt8])
  case received([UInt8])
  /// The connection of an exchange that has ended: an address and a port for each end.
  case connection(remote: (address: String, port: Int), local: (address: String, port: Int))
}
