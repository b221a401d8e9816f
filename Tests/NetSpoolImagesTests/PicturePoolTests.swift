#if Images
import NetSpool
import Testing

@testable import NetSpoolImages
@testable import TestSupport

/// Who is next, and how much is under way at once.
struct PicturePoolTests {
  @Test func `what is urgent goes first, and equals in their order`() async {
    let pool = PicturePool(RefusingDecoder(rejection: .format), width: 1)
    let (gate, busy, end) = (Latch(), Latch(), Latch())
    let order = Journal<Int>()
    pool.submit(
      PicturePool.Job(bytes: 1) {
        busy.open()
        gate.block()
      }, .normal)
    await busy.opened()
    for (number, priority) in [
      (3, NetworkRequest.Priority.normal), (5, .low), (1, .urgent), (4, .normal), (2, .high),
    ] {
      pool.submit(
        PicturePool.Job(bytes: 1) {
          order.add(number)
          if order.count == 5 { end.open() }
        }, priority)
    }
    gate.open()
    await end.opened()
    #expect(order.entries == [1, 2, 3, 4, 5])
  }

  @Test func `a picture that is not wanted any more goes before its turn comes`() async {
    let pool = PicturePool(RefusingDecoder(rejection: .format), width: 1)
    let (gate, busy) = (Latch(), Latch())
    pool.submit(
      PicturePool.Job(bytes: 1) {
        busy.open()
        gate.block()
      }, .normal)
    await busy.opened()
    weak var picture: Latch?
    let job: PicturePool.Job
    do {
      let held = Latch()
      job = PicturePool.Job(bytes: 1) { held.open() }
      picture = held
    }
    pool.submit(job, .normal)
    job.forget()
    #expect(picture == nil)
    gate.open()
  }

  @Test func `pictures under way take no more memory than there is, and a larger one goes alone`() async {
    let pool = PicturePool(RefusingDecoder(rejection: .format), width: 8, bytesMax: 100)
    let end = Latch()
    let (now, most, alone) = (Counter(), Journal<Int>(), Journal<Int>())
    let sizes = (0..<200).map { $0 % 40 == 7 ? 150 : 30 }
    let done = Counter()
    for size in sizes {
      pool.submit(
        PicturePool.Job(bytes: size) {
          let under = now.add(size)
          most.add(under)
          if size == 150 { alone.add(under) }
          _ = now.add(-size)
          if done.add(1) == sizes.count { end.open() }
        }, .normal)
    }
    await end.opened()
    #expect(
      most.entries.allSatisfy { $0 <= 100 || $0 == 150 } && alone.entries == [Int](repeating: 150, count: 5))
  }
}
#endif
