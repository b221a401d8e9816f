import Glibc

/// A disk that does not sync, for one thread: the kernel answers fdatasync(2) with EIO (seccomp(2)). For a process of a
/// test's own, as it cannot be undone.
enum SyncRefusal {
  /// `struct sock_filter`.
  private struct Instruction {
    var code: UInt16
    var ifTrue: UInt8 = 0
    var ifFalse: UInt8 = 0
    var value: UInt32
  }

  /// `struct sock_fprog`.
  private struct Program {
    var count: UInt16
    /// Their address.
    var instructions: UInt
  }

  private typealias Control = @convention(c) (CInt, UInt, UInt, UInt, UInt) -> CInt

  /// False where the system does not allow it.
  static func begin() -> Bool {
    #if arch(x86_64)
    let number: UInt32 = 75
    #elseif arch(arm64)
    let number: UInt32 = 83
    #endif
    // Load the call's number; refuse if it is that one; else allow.
    let instructions = [
      Instruction(code: 0x20, value: 0), Instruction(code: 0x15, ifFalse: 1, value: number),
      Instruction(code: 0x06, value: 0x0005_0000 | UInt32(EIO)), Instruction(code: 0x06, value: 0x7FFF_0000),
    ]
    guard let symbol = unsafe dlsym(nil, "prctl") else { return false }
    let control = unsafe unsafeBitCast(symbol, to: Control.self)
    return unsafe instructions.withUnsafeBytes { bytes in
      var program = Program(
        count: UInt16(instructions.count), instructions: UInt(bitPattern: bytes.baseAddress))
      let (noNewPrivileges, setFilter) = (CInt(38), CInt(22))
      guard control(noNewPrivileges, 1, 0, 0, 0) == 0 else { return false }
      return unsafe withUnsafeMutablePointer(to: &program) { program in
        control(setFilter, 2, UInt(bitPattern: program), 0, 0) == 0
      }
    }
  }
}
