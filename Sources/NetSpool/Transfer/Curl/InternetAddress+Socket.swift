internal import CNetSpoolCurl
internal import CNetSpoolShims
internal import Glibc

extension InternetAddress {
  /// A socket address as libcurl is about to connect to it: the address and the port; nil for another family.
  static func read(_ socket: UnsafeMutablePointer<curl_sockaddr>) -> (InternetAddress, port: Int)? {
    guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
    let start = unsafe UnsafeRawPointer(socket) + offset
    let bytes = unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(socket.pointee.addrlen)))
    let part: Range<Int>
    switch unsafe socket.pointee.family {
    case AF_INET: part = 4..<8
    case AF_INET6: part = 8..<24
    default: return nil
    }
    guard bytes.count >= part.upperBound, let address = InternetAddress(bytes[part]) else { return nil }
    return (address, port: Int(bytes[2]) << 8 | Int(bytes[3]))
  }

  /// As libcurl writes it (CURLOPT_PREREQFUNCTION); nil if it is none.
  init?(text: UnsafePointer<CChar>) {
    var bytes = [UInt8](repeating: 0, count: 16)
    if unsafe inet_pton(AF_INET, text, &bytes) == 1 {
      self.init(bytes[..<4])
    } else if unsafe inet_pton(AF_INET6, text, &bytes) == 1 {
      self.init(bytes)
    } else {
      return nil
    }
  }
}
