/// The two ranges a lease covers.
@unsafe struct LeaseRanges {
  var metadata: UnsafeRawBufferPointer
  var body: UnsafeRawBufferPointer
  /// They stand in memory of their own, not in the map.
  var isCopy = false
}

/// The leases of one snapshot, by number. Numbers are used again.
@safe struct LeaseSlots: ~Copyable {
  @safe private struct Slot {
    var ranges: LeaseRanges
    /// The memory of the copy.
    var copy: UnsafeMutableRawPointer?
    var isPinned = false
    var isUsed = true
  }

  private var slots: [Slot] = []
  private var free: [Int] = []
  /// Leases there are.
  private(set) var count = 0
  /// Those whose bytes are in the map.
  private(set) var mapped = 0
  /// Those whose bytes cannot be moved.
  private(set) var pins = 0

  deinit {
    for slot in slots { unsafe slot.copy?.deallocate() }
  }

  mutating func add(_ ranges: LeaseRanges) -> Int {
    count += 1
    mapped += 1
    if let number = free.popLast() {
      slots[number] = unsafe Slot(ranges: ranges)
      return number
    }
    slots.append(unsafe Slot(ranges: ranges))
    return slots.count - 1
  }

  mutating func remove(_ number: Int) {
    if slots[number].isPinned { pins -= 1 }
    if let copy = unsafe slots[number].copy { unsafe copy.deallocate() } else { mapped -= 1 }
    unsafe slots[number].copy = nil
    slots[number].isUsed = false
    count -= 1
    free.append(number)
  }

  func ranges(_ number: Int) -> LeaseRanges { unsafe slots[number].ranges }

  /// Its bytes stay where they are for as long as it lives.
  func isSettled(_ number: Int) -> Bool { unsafe slots[number].isPinned || slots[number].copy != nil }

  mutating func pin(_ number: Int) {
    slots[number].isPinned = true
    pins += 1
  }

  /// The first lease from a number on whose bytes could be copied out.
  func nextToCopy(from start: Int) -> Int? {
    guard mapped > pins, start < slots.count else { return nil }
    return slots[start...].firstIndex { unsafe $0.isUsed && !$0.isPinned && $0.copy == nil }
  }

  mutating func copyOut(_ number: Int) {
    let (metadata, body) = unsafe (slots[number].ranges.metadata, slots[number].ranges.body)
    let copy = UnsafeMutableRawPointer.allocate(
      byteCount: max(metadata.count + body.count, 1), alignment: 16)
    unsafe UnsafeMutableRawBufferPointer(start: copy, count: metadata.count).copyMemory(from: metadata)
    unsafe UnsafeMutableRawBufferPointer(start: copy + metadata.count, count: body.count).copyMemory(
      from: body)
    unsafe slots[number].ranges = LeaseRanges(
      metadata: UnsafeRawBufferPointer(start: copy, count: metadata.count),
      body: UnsafeRawBufferPointer(start: copy + metadata.count, count: body.count), isCopy: true)
    unsafe slots[number].copy = copy
    mapped -= 1
  }
}
