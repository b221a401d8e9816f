import Glibc

/// The bytes of a plain file, mapped read-only for as long as the value lives. Nobody may cut the file meanwhile.
@safe struct MappedFile: ~Copyable {
  private let memory: UnsafeRawBufferPointer

  init(_ path: String) throws(IOFailure) {
    let file = try Descriptor(opening: path, O_RDONLY)
    guard let size = file.status?.size else { throw .last("look at", path) }
    guard size > 0 else {
      unsafe memory = UnsafeRawBufferPointer(start: nil, count: 0)
      return
    }
    let start = unsafe mmap(nil, size, PROT_READ, MAP_PRIVATE, file.number, 0)
    guard let start = unsafe start, unsafe start != MAP_FAILED else { throw .last("map", path) }
    unsafe memory = UnsafeRawBufferPointer(start: start, count: size)
  }

  deinit {
    if let start = unsafe memory.baseAddress {
      unsafe munmap(UnsafeMutableRawPointer(mutating: start), memory.count)
    }
  }

  var bytes: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(memory.bytes, borrowing: self) }
  }
}
