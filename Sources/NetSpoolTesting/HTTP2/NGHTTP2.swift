/// The functions of libnghttp2 that a server needs, by their own names. https://nghttp2.org/documentation/apiref.html
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
      Object, Int32, UnsafeMutablePointer<UInt8>?, Int, UnsafeMutablePointer<UInt32>?,
      UnsafeMutableRawPointer?,
      Context
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

  let nghttp2_session_callbacks_new: @Sendable @convention(c) (UnsafeMutablePointer<Object>) -> Int32
  let nghttp2_session_callbacks_del: @Sendable @convention(c) (Object) -> Void
  let nghttp2_session_callbacks_set_on_begin_headers_callback:
    @Sendable @convention(c) (Object, SeesFrame) -> Void
  let nghttp2_session_callbacks_set_on_header_callback: @Sendable @convention(c) (Object, SeesField) -> Void
  let nghttp2_session_callbacks_set_on_frame_recv_callback:
    @Sendable @convention(c) (Object, SeesFrame) -> Void
  let nghttp2_session_callbacks_set_on_invalid_frame_recv_callback:
    @Sendable @convention(c) (Object, SeesInvalidFrame) -> Void
  let nghttp2_session_callbacks_set_on_data_chunk_recv_callback:
    @Sendable @convention(c) (Object, SeesData) -> Void
  let nghttp2_session_callbacks_set_on_stream_close_callback:
    @Sendable @convention(c) (Object, SeesClose) -> Void
  let nghttp2_option_new: @Sendable @convention(c) (UnsafeMutablePointer<Object>) -> Int32
  let nghttp2_option_del: @Sendable @convention(c) (Object) -> Void
  let nghttp2_option_set_no_auto_window_update: @Sendable @convention(c) (Object, Int32) -> Void
  let nghttp2_option_set_max_send_header_block_length: @Sendable @convention(c) (Object, Int) -> Void
  let nghttp2_session_server_new2:
    @Sendable @convention(c) (UnsafeMutablePointer<Object>, Object, Context, Object) -> Int32
  let nghttp2_session_del: @Sendable @convention(c) (Object) -> Void
  let nghttp2_session_mem_recv: @Sendable @convention(c) (Object, Bytes, Int) -> Int
  let nghttp2_session_mem_send: @Sendable @convention(c) (Object, UnsafeMutablePointer<Bytes>) -> Int
  let nghttp2_session_want_read: @Sendable @convention(c) (Object) -> Int32
  let nghttp2_session_want_write: @Sendable @convention(c) (Object) -> Int32
  let nghttp2_session_consume_connection: @Sendable @convention(c) (Object, Int) -> Int32
  let nghttp2_session_consume_stream: @Sendable @convention(c) (Object, Int32, Int) -> Int32
  let nghttp2_session_resume_data: @Sendable @convention(c) (Object, Int32) -> Int32
  let nghttp2_session_get_last_proc_stream_id: @Sendable @convention(c) (Object) -> Int32
  let nghttp2_submit_settings: @Sendable @convention(c) (Object, UInt8, UnsafeRawPointer?, Int) -> Int32
  let nghttp2_submit_headers:
    @Sendable @convention(c) (Object, UInt8, Int32, Object, Fields, Int, Context) -> Int32
  let nghttp2_submit_response:
    @Sendable @convention(c) (Object, Int32, Fields, Int, UnsafeRawPointer?) -> Int32
  let nghttp2_submit_trailer: @Sendable @convention(c) (Object, Int32, Fields, Int) -> Int32
  let nghttp2_submit_rst_stream: @Sendable @convention(c) (Object, UInt8, Int32, UInt32) -> Int32
  let nghttp2_submit_goaway: @Sendable @convention(c) (Object, UInt8, Int32, UInt32, Bytes, Int) -> Int32
  let nghttp2_strerror: @Sendable @convention(c) (Int32) -> UnsafePointer<CChar>?
}

extension NGHTTP2 {
  private init() throws(OriginError) {
    let library = try SystemLibrary("libnghttp2.so.14", "libnghttp2.so")
    unsafe nghttp2_session_callbacks_new = try unsafe library("nghttp2_session_callbacks_new")
    unsafe nghttp2_session_callbacks_del = try unsafe library("nghttp2_session_callbacks_del")
    unsafe nghttp2_session_callbacks_set_on_begin_headers_callback = try unsafe library(
      "nghttp2_session_callbacks_set_on_begin_headers_callback")
    unsafe nghttp2_session_callbacks_set_on_header_callback = try unsafe library(
      "nghttp2_session_callbacks_set_on_header_callback")
    unsafe nghttp2_session_callbacks_set_on_frame_recv_callback = try unsafe library(
      "nghttp2_session_callbacks_set_on_frame_recv_callback")
    unsafe nghttp2_session_callbacks_set_on_invalid_frame_recv_callback = try unsafe library(
      "nghttp2_session_callbacks_set_on_invalid_frame_recv_callback")
    unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback = try unsafe library(
      "nghttp2_session_callbacks_set_on_data_chunk_recv_callback")
    unsafe nghttp2_session_callbacks_set_on_stream_close_callback = try unsafe library(
      "nghttp2_session_callbacks_set_on_stream_close_callback")
    unsafe nghttp2_option_new = try unsafe library("nghttp2_option_new")
    unsafe nghttp2_option_del = try unsafe library("nghttp2_option_del")
    unsafe nghttp2_option_set_no_auto_window_update = try unsafe library(
      "nghttp2_option_set_no_auto_window_update")
    unsafe nghttp2_option_set_max_send_header_block_length = try unsafe library(
      "nghttp2_option_set_max_send_header_block_length")
    unsafe nghttp2_session_server_new2 = try unsafe library("nghttp2_session_server_new2")
    unsafe nghttp2_session_del = try unsafe library("nghttp2_session_del")
    unsafe nghttp2_session_mem_recv = try unsafe library("nghttp2_session_mem_recv")
    unsafe nghttp2_session_mem_send = try unsafe library("nghttp2_session_mem_send")
    unsafe nghttp2_session_want_read = try unsafe library("nghttp2_session_want_read")
    unsafe nghttp2_session_want_write = try unsafe library("nghttp2_session_want_write")
    unsafe nghttp2_session_consume_connection = try unsafe library("nghttp2_session_consume_connection")
    unsafe nghttp2_session_consume_stream = try unsafe library("nghttp2_session_consume_stream")
    unsafe nghttp2_session_resume_data = try unsafe library("nghttp2_session_resume_data")
    unsafe nghttp2_session_get_last_proc_stream_id = try unsafe library(
      "nghttp2_session_get_last_proc_stream_id")
    unsafe nghttp2_submit_settings = try unsafe library("nghttp2_submit_settings")
    unsafe nghttp2_submit_headers = try unsafe library("nghttp2_submit_headers")
    unsafe nghttp2_submit_response = try unsafe library("nghttp2_submit_response")
    unsafe nghttp2_submit_trailer = try unsafe library("nghttp2_submit_trailer")
    unsafe nghttp2_submit_rst_stream = try unsafe library("nghttp2_submit_rst_stream")
    unsafe nghttp2_submit_goaway = try unsafe library("nghttp2_submit_goaway")
    unsafe nghttp2_strerror = try unsafe library("nghttp2_strerror")
  }
}
