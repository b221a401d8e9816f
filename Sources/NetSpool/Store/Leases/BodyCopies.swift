internal import Synchronization

/// Bodies that were copied out of the map: one copy of each for all its holders, and no more than so many bytes in all.
///
/// A body that is held for long would keep old pages from being used again; in memory of its own it keeps nothing. What
/// finds no room here stays in the map.
@safe final class BodyCopies: Sendable {
  /// No two bodies have the same number; the metadata of one may be replaced.
  private struct Key: Hashable {
    let bodyID: UInt64
    let metadata: UInt64
    let metadataBytes: Int
  }

  private struct Copy {
    let key: Key
    let bytes: Int
    var holders: Int
  }

  private struct State {
    var starts: [Key: UInt] = [:]
    var copies: [UInt: Copy] = [:]
    var bytes = 0

    /// The copy that there is, held once more.
    mutating func retain(_ key: Key) -> UInt? {
      guard let start = starts[key] else { return nil }
      copies[start]?.holders += 1
      return start
    }
  }

  private let state = Mutex(State())
  private let bytesMax: Int

  init(bytesMax: Int) { self.bytesMax = bytesMax }

  /// All of them.
  var bytes: Int { state.withLock { $0.bytes } }

  /// Where the copy of these bytes begins, metadata first, held once more; nil when there is no room for it.
  func take(_ bodyID: UInt64, _ source: LeaseRanges) -> UInt? {
    let metadata = unsafe Checksum.of(RawSpan(_unsafeBytes: source.metadata))
    let key = Key(bodyID: bodyID, metadata: UInt64(metadata), metadataBytes: unsafe source.metadata.count)
    let bytes = unsafe max(source.metadata.count + source.body.count, 1)
    let (known, hasRoom) = state.withLock { state -> (UInt?, Bool) in
      if let start = state.retain(key) { return (start, true) }
      let hasRoom = state.bytes + bytes <= bytesMax
      if hasRoom { state.bytes += bytes }
      return (nil, hasRoom)
    }
    guard known == nil, hasRoom else { return known }
    // Not under the lock, which loops take when they give a copy back: this may wait for the disk.
    let start = unsafe UInt(bitPattern: Self.copy(source, bytes))
    return state.withLock { state in
      if let other = state.retain(key) {
        state.bytes -= bytes
        unsafe UnsafeMutableRawPointer(bitPattern: start)?.deallocate()
        return other
      }
      state.starts[key] = start
      state.copies[start] = Copy(key: key, bytes: bytes, holders: 1)
      return start
    }
  }

  /// Releases a copy; the last holder frees it.
  func give(_ start: UInt) {
    state.withLock { state in
      state.copies[start]?.holders -= 1
      guard let copy = state.copies[start], copy.holders == 0 else { return }
      state.copies[start] = nil
      state.starts[copy.key] = nil
      state.bytes -= copy.bytes
      unsafe UnsafeMutableRawPointer(bitPattern: start)?.deallocate()
    }
  }

  private static func copy(_ source: LeaseRanges, _ bytes: Int) -> UnsafeMutableRawPointer {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes, alignment: 16)
    unsafe copy.copyMemory(from: source.metadata)
    unsafe UnsafeMutableRawBufferPointer(rebasing: copy[source.metadata.count...]).copyMemory(
      from: source.body)
    return copy.baseAddress!
  }
}
