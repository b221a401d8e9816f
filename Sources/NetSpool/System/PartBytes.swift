internal import Glibc

/// What a part's file is asked besides writing.
enum PartBytes {
  /// The beginning of a small file.
  static func text(of file: borrowing FileDescriptor) -> String {
    String(decoding: (try? read(file, at: 0, atMost: 16 << 10)) ?? [], as: UTF8.self)
  }

  static func read(
    _ file: borrowing FileDescriptor, at offset: Int64, atMost count: Int
  ) throws(SystemError) -> [UInt8] {
    let number = file.rawValue
    var failure: SystemError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      do throws(SystemError) {
        filled = try SystemError.check("pread") {
          unsafe pread(number, buffer.baseAddress, buffer.count, off_t(offset))
        }
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }
}
