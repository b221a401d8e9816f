/// Room in the heap of the thread that makes it, for what comes and goes there in crowds, as the bodies of answers do.
///
/// glibc gives the end of a heap back to the system as soon as 128 KiB of it are free, and takes it again page by page with
/// the next crowd: a page fault for each small answer. That limit is the host program's to set (mallopt(3)). So what is
/// free here does not lie at the end: a block that is not used lies behind it.
///
/// Costs addresses: a page becomes memory when it is used, and `FreeMemory.giveBack` gives it back. Does no harm where
/// another allocator is in place.
struct HeapRoom {
  private static let bytes = 4 << 20
  /// Longer blocks are not taken from a heap (M_MMAP_THRESHOLD, 128 KiB).
  private static let blockBytes = 120 << 10

  /// Never used.
  private let end: [UInt8]

  init() {
    var blocks: [[UInt8]] = []
    for _ in 0...Self.bytes / Self.blockBytes {
      var block: [UInt8] = []
      block.reserveCapacity(Self.blockBytes)
      blocks.append(block)
    }
    end = blocks.removeLast()
  }
}
