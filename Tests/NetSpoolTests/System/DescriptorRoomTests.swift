import Glibc
import Testing

@testable import NetSpool
@testable import TestSupport

struct DescriptorRoomTests {
  @Test func `what is free is what a list of all that are open leaves of the limit`() async {
    await #expect(processExitsWith: .success) {
      let limit = SystemText.openDescriptors().count + 50
      var limits = rlimit(rlim_cur: rlim_t(limit), rlim_max: rlim_t(limit))
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
      // Others of the process may open and close some at any moment. The list needs one itself.
      func isRight() async -> Bool {
        await until { DescriptorRoom.free() == limit - SystemText.openDescriptors().count + 1 }
      }
      #expect(await isRight())
      let more = (0..<10).map { _ in dup(0) }
      #expect(!more.contains(-1))
      #expect(await isRight())
    }
  }
}
