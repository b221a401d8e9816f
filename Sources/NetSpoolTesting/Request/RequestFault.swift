/// Why a request is not HTTP/1.1, and the status it is answered with.
struct RequestFault: Error, Equatable {
  let reason: String
  var status = 400

  init(_ reason: String, status: Int = 400) {
    self.reason = reason
    self.status = status
  }
}
