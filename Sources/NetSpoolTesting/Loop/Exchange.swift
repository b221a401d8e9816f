/// A request that is being read or answered.
struct Exchange {
  let head: RequestHead
  let path: String
  let index: Int
  var reader: BodyReader
  /// Chosen when only the head was there.
  var early: Answer?
  /// What is to happen inside the body, until it has happened.
  var bodyFault: (after: Int, action: FaultAction)?
  /// Answered already: what is left of the body is only read.
  var isAnswered = false

  init(head: RequestHead, index: Int) {
    self.head = head
    self.index = index
    path = head.path
    reader = BodyReader(head.framing)
  }

  func recorded(connection: Int) -> RecordedRequest {
    RecordedRequest(head: head, path: path, reader: reader, connection: connection, index: index)
  }
}
