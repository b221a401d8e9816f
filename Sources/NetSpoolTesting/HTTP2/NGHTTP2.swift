/// The functions of libnghttp2 that a server needs, by their own names without `nghttp2_`.
/// https://nghttp2.org/documentation/apiref.html
@safe struct NGHTTP2: Sendable {
  typealias Object = OpaquePointer?
  typealias Bytes = UnsafePointer<UInt8>?
  /// A frame, of which only the beginning is read: a `FrameHead`.
  typealias Frame = UnsafeRawPointer?
  /// As many `Field`s as the next argument says.
  typealias Fields = UnsafeRawPointer?
  typealias Context = UnsafeMutableRawPointer?

  typealias SeesFrame = @convention(c) (Object, Frame, Context) -> Int32
  typealias SeesInvalidFrame = @convention(c) (Object, Frame, Int32, Context) -> Int32
  typealias SeesField = @convention(c) (Object, Frame, Bytes, Int, Bytes, Int, UInt8, Context) -> Int32
  typealias SeesData = @convention(c) (Object, UInt8, Int32, Bytes, Int, Context) -> Int32
  typealias SeesClose = @convention(c) (Object, Int32, UInt32, Context) -> Int32
  typealias GivesData =
    @convention(c) (
      Object, Int32, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<UInt32>?, Context, Context
    ) -> Int

  // C functions in Swift take no pointers to these, only raw ones. They have the layout of the C structures of the same fields, as Swift lays out stored properties in order.

  /// nghttp2_frame_hd
  struct FrameHead {
    var count: Int
    var stream: Int32
    var kind: UInt8
    var flags: UInt8
    var reserved: UInt8
  }

  /// nghttp2_nv
  @safe struct Field {
    var name: UnsafeMutablePointer<UInt8>?
    var value: UnsafeMutablePointer<UInt8>?
    var nameCount: Int
    var valueCount: Int
    var flags: UInt8
  }

  /// nghttp2_data_provider
  @safe struct DataProvider {
    var source: UnsafeMutableRawPointer?
    var gives: GivesData
  }

  /// nghttp2_settings_entry
  struct Setting {
    var id: Int32
    var value: UInt32
  }

  /// Loaded by the first who needs it.
  static let shared = Result { () throws(OriginError) in try NGHTTP2() }

  let session_callbacks_new: @Sendable @convention(c) (UnsafeMutablePointer<Object>) -> Int32 =
    unsafe nghttp2("session_callbacks_new")
  let session_callbacks_del: @Sendable @convention(c) (Object) -> Void = unsafe nghttp2(
    "session_callbacks_del")
  let session_callbacks_set_on_begin_headers_callback: @Sendable @convention(c) (Object, SeesFrame) -> Void =
    unsafe nghttp2("session_callbacks_set_on_begin_headers_callback")
  let session_callbacks_set_on_header_callback: @Sendable @convention(c) (Object, SeesField) -> Void =
    unsafe nghttp2("session_callbacks_set_on_header_callback")
  let session_callbacks_set_on_frame_recv_callback: @Sendable @convention(c) (Object, SeesFrame) -> Void =
    unsafe nghttp2("session_callbacks_set_on_frame_recv_callback")
  let session_callbacks_set_on_invalid_frame_recv_callback:
    @Sendable @convention(c) (Object, SeesInvalidFrame) -> Void = unsafe nghttp2(
      "session_callbacks_set_on_invalid_frame_recv_callback")
  let session_callbacks_set_on_data_chunk_recv_callback: @Sendable @convention(c) (Object, SeesData) -> Void =
    unsafe nghttp2("session_callbacks_set_on_data_chunk_recv_callback")
  let session_callbacks_set_on_stream_close_callback: @Sendable @convention(c) (Object, SeesClose) -> Void =
    unsafe nghttp2("session_callbacks_set_on_stream_close_callback")
  let option_new: @Sendable @convention(c) (UnsafeMutablePointer<Object>) -> Int32 = unsafe nghttp2(
    "option_new")
  let option_del: @Sendable @convention(c) (Object) -> Void = unsafe nghttp2("option_del")
  let option_set_no_auto_window_update: @Sendable @convention(c) (Object, Int32) -> Void = unsafe nghttp2(
    "option_set_no_auto_window_update")
  let option_set_max_send_header_block_length: @Sendable @convention(c) (Object, Int) -> Void =
    unsafe nghttp2("option_set_max_send_header_block_length")
  let session_server_new2:
    @Sendable @convention(c) (UnsafeMutablePointer<Object>, Object, Context, Object) -> Int32 =
      unsafe nghttp2("session_server_new2")
  let session_del: @Sendable @convention(c) (Object) -> Void = unsafe nghttp2("session_del")
  let session_mem_recv: @Sendable @convention(c) (Object, Bytes, Int) -> Int = unsafe nghttp2(
    "session_mem_recv")
  let session_mem_send: @Sendable @convention(c) (Object, UnsafeMutablePointer<Bytes>) -> Int =
    unsafe nghttp2("session_mem_send")
  let session_want_read: @Sendable @convention(c) (Object) -> Int32 = unsafe nghttp2("session_want_read")
  let session_want_write: @Sendable @convention(c) (Object) -> Int32 = unsafe nghttp2("session_want_write")
  let session_consume_connection: @Sendable @convention(c) (Object, Int) -> Int32 = unsafe nghttp2(
    "session_consume_connection")
  let session_consume_stream: @Sendable @convention(c) (Object, Int32, Int) -> Int32 = unsafe nghttp2(
    "session_consume_stream")
  let session_resume_data: @Sendable @convention(c) (Object, Int32) -> Int32 = unsafe nghttp2(
    "session_resume_data")
  let session_get_last_proc_stream_id: @Sendable @convention(c) (Object) -> Int32 = unsafe nghttp2(
    "session_get_last_proc_stream_id")
  let submit_settings: @Sendable @convention(c) (Object, UInt8, UnsafeRawPointer?, Int) -> Int32 =
    unsafe nghttp2("submit_settings")
  let submit_headers: @Sendable @convention(c) (Object, UInt8, Int32, Object, Fields, Int, Context) -> Int32 =
    unsafe nghttp2("submit_headers")
  let submit_response: @Sendable @convention(c) (Object, Int32, Fields, Int, UnsafeRawPointer?) -> Int32 =
    unsafe nghttp2("submit_response")
  let submit_trailer: @Sendable @convention(c) (Object, Int32, Fields, Int) -> Int32 = unsafe nghttp2(
    "submit_trailer")
  let submit_rst_stream: @Sendable @convention(c) (Object, UInt8, Int32, UInt32) -> Int32 = unsafe nghttp2(
    "submit_rst_stream")
  let submit_goaway: @Sendable @convention(c) (Object, UInt8, Int32, UInt32, Bytes, Int) -> Int32 =
    unsafe nghttp2("submit_goaway")
  let strerror: @Sendable @convention(c) (Int32) -> UnsafePointer<CChar>? = unsafe nghttp2("strerror")

  private init() throws(OriginError) { try nghttp2.check() }
}

private let nghttp2 = SystemLibrary("libnghttp2.so.14", "libnghttp2.so", prefix: "nghttp2_")
