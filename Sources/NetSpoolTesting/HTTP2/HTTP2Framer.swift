/// Frames and header compression, by nghttp2: bytes of the client go in, what they say goes to the session, and what the
/// session answers comes out as bytes.
@safe final class HTTP2Framer {
  /// The part of a body that is there when nghttp2 asks for it.
  enum Piece {
    case bytes([UInt8])
    case end(trailers: [HeaderField])
    /// There will be more: ``resume(_:)``.
    case later
    case reset
  }

  /// Why a stream ends before its time (RFC 9113 section 7).
  enum Reason: UInt32 {
    case none = 0
    case internalError = 2
  }

  private let library: NGHTTP2
  private var session: NGHTTP2.Object = nil
  /// The object that the callbacks tell. It owns the framer.
  fileprivate unowned let owner: HTTP2Session

  /// Loads nghttp2, unless it is loaded.
  init(streamsMax: Int, owner: HTTP2Session) throws(OriginError) {
    library = try NGHTTP2.shared.get()
    self.owner = owner
    var callbacks: NGHTTP2.Object = nil
    var option: NGHTTP2.Object = nil
    _ = unsafe library.session_callbacks_new(&callbacks)
    _ = unsafe library.option_new(&option)
    unsafe setCallbacks(callbacks)
    // The client gets room for more of a body when the script has read what there is.
    unsafe library.option_set_no_auto_window_update(option, 1)
    // Longer than any head that comes here: what is longer would not be sent, and nobody told.
    unsafe library.option_set_max_send_header_block_length(option, 4 << 20)
    _ = unsafe library.session_server_new2(
      &session, callbacks, Unmanaged.passUnretained(self).toOpaque(), option)
    unsafe library.session_callbacks_del(callbacks)
    unsafe library.option_del(option)
    let maxConcurrentStreams: Int32 = 3
    let settings = [NGHTTP2.Setting(id: maxConcurrentStreams, value: UInt32(clamping: streamsMax))]
    _ = unsafe library.submit_settings(session, 0, settings, settings.count)
  }

  deinit { unsafe library.session_del(session) }

  /// nil, or why the connection cannot go on.
  func receive(_ bytes: ArraySlice<UInt8>) -> String? {
    let result = unsafe bytes.withUnsafeBufferPointer {
      unsafe library.session_mem_recv(session, $0.baseAddress, $0.count)
    }
    return result < 0 ? reason(Int32(result)) : nil
  }

  /// The next frame to be sent, or some of them; empty when there is none now.
  func nextOutput() -> [UInt8] {
    var bytes: NGHTTP2.Bytes = nil
    let count = unsafe library.session_mem_send(session, &bytes)
    return unsafe Array(UnsafeBufferPointer(start: bytes, count: max(count, 0)))
  }

  /// Both sides have said all they will.
  var isOver: Bool {
    unsafe library.session_want_read(session) == 0
      && library.session_want_write(session) == 0
  }

  fileprivate func reason(_ code: Int32) -> String {
    unsafe library.strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
  }
}

// What the session says.
extension HTTP2Framer {
  /// 1xx.
  func submit(interim status: Int, _ fields: [HeaderField], on stream: Int32) {
    unsafe with(status, fields) { unsafe library.submit_headers(session, 0, stream, nil, $0, $1, nil) }
  }

  /// The head of an answer. Its body is asked for.
  func submit(_ status: Int, _ fields: [HeaderField], on stream: Int32) {
    unsafe with(status, fields) {
      var provider = unsafe NGHTTP2.DataProvider(source: nil, gives: giveData)
      return unsafe library.submit_response(session, stream, $0, $1, &provider)
    }
  }

  fileprivate func submit(trailers: [HeaderField], on stream: Int32) {
    unsafe with(nil, trailers) { unsafe library.submit_trailer(session, stream, $0, $1) }
  }

  /// There is more of this body, or its end.
  func resume(_ stream: Int32) { _ = unsafe library.session_resume_data(session, stream) }

  func reset(_ stream: Int32, _ reason: Reason) {
    _ = unsafe library.submit_rst_stream(session, 0, stream, reason.rawValue)
  }

  /// No request is taken any more; those that are under way are answered.
  func goAway() {
    let last = unsafe library.session_get_last_proc_stream_id(session)
    _ = unsafe library.submit_goaway(session, 0, last, 0, nil, 0)
  }

  /// The client gets room for as many bytes more, on the connection or on a stream.
  func credit(_ count: Int) { _ = unsafe library.session_consume_connection(session, count) }

  func credit(_ count: Int, on stream: Int32) {
    _ = unsafe library.session_consume_stream(session, stream, count)
  }

  /// Lends the fields as nghttp2 wants them; it makes copies.
  private func with(_ status: Int?, _ fields: [HeaderField], _ body: (NGHTTP2.Fields, Int) -> Int32) {
    var all = fields
    if let status { all.insert(HeaderField(":status", String(status)), at: 0) }
    var text = all.flatMap { Array($0.name.utf8) + Array($0.value.utf8) }
    unsafe text.withUnsafeMutableBufferPointer { buffer in
      var place = buffer.baseAddress
      let lent = all.map { field in
        let (name, value) = (field.name.utf8.count, field.value.utf8.count)
        defer { unsafe place = place.map { unsafe $0 + name + value } }
        return unsafe NGHTTP2.Field(
          name: place, value: place.map { unsafe $0 + name }, nameCount: name, valueCount: value, flags: 0)
      }
      _ = unsafe body(lent, lent.count)
    }
  }
}

// What nghttp2 says. Each finds the framer, makes values of what is lent, and calls one method.
extension HTTP2Framer {
  fileprivate static func find(_ context: NGHTTP2.Context) -> HTTP2Framer {
    unsafe Unmanaged<HTTP2Framer>.fromOpaque(context!).takeUnretainedValue()
  }

  private func setCallbacks(_ callbacks: NGHTTP2.Object) {
    unsafe library.session_callbacks_set_on_begin_headers_callback(callbacks) { _, frame, context in
      unsafe HTTP2Framer.find(context).owner.didBeginHead(head(frame).stream)
      return 0
    }
    unsafe library.session_callbacks_set_on_header_callback(callbacks) {
      _, frame, name, nameCount, value, valueCount, _, context in
      let field = unsafe HeaderField(text(name, nameCount), text(value, valueCount))
      unsafe HTTP2Framer.find(context).owner.didReceive(field, on: head(frame).stream)
      return 0
    }
    unsafe library.session_callbacks_set_on_frame_recv_callback(callbacks) { _, frame, context in
      let (owner, frame) = unsafe (HTTP2Framer.find(context).owner, head(frame))
      let (data, headers, endOfStream): (UInt8, UInt8, UInt8) = (0, 1, 1)
      if frame.kind == headers {
        owner.didReceiveHead(on: frame.stream, isAll: frame.flags & endOfStream != 0)
      }
      if frame.kind == data, frame.flags & endOfStream != 0 { owner.didReceiveEnd(of: frame.stream) }
      return 0
    }
    unsafe library.session_callbacks_set_on_invalid_frame_recv_callback(callbacks) {
      _, _, code, context in
      let framer = unsafe HTTP2Framer.find(context)
      framer.owner.didReject(framer.reason(code))
      return 0
    }
    unsafe library.session_callbacks_set_on_data_chunk_recv_callback(callbacks) {
      _, _, stream, bytes, count, context in
      let data = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
      unsafe HTTP2Framer.find(context).owner.didReceive(data, on: stream)
      return 0
    }
    unsafe library.session_callbacks_set_on_stream_close_callback(callbacks) {
      _, stream, _, context in
      unsafe HTTP2Framer.find(context).owner.didClose(stream)
      return 0
    }
  }

  /// For a body that is being sent: how many bytes were given, or one of nghttp2's errors.
  fileprivate func give(
    _ stream: Int32, _ buffer: UnsafeMutableRawBufferPointer, _ flags: UnsafeMutablePointer<UInt32>
  ) -> Int {
    let (endOfData, noEndOfStream): (UInt32, UInt32) = (1, 2)
    let (deferred, failsStream) = (-508, -521)
    switch owner.takeBody(of: stream, atMost: buffer.count) {
    case .bytes(let bytes):
      unsafe buffer.copyBytes(from: bytes)
      return bytes.count
    case .end(let trailers):
      unsafe flags.pointee |= trailers.isEmpty ? endOfData : endOfData | noEndOfStream
      if !trailers.isEmpty { submit(trailers: trailers, on: stream) }
      return 0
    case .later: return deferred
    case .reset: return failsStream
    }
  }
}

private let giveData: NGHTTP2.GivesData = { _, stream, buffer, count, flags, _, context in
  let room = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: count)
  return unsafe HTTP2Framer.find(context).give(stream, room, flags!)
}

private func head(_ frame: NGHTTP2.Frame) -> NGHTTP2.FrameHead {
  unsafe frame!.load(as: NGHTTP2.FrameHead.self)
}

private func text(_ bytes: NGHTTP2.Bytes, _ count: Int) -> String {
  unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
}
