import Glibc
import Testing

@testable import NetSpool

struct DescriptorRoomTests {
  @Test func `what is free is what a list of all that are open leaves of the limit`() async {
    await #expect(processExitsWith: .success) {
      // Without the one that the list needs
      let open = SystemText.openDescriptors().count - 1
      var limit = rlimit(rlim_cur: rlim_t(open + 50), rlim_max: rlim_t(open + 50))
      _ = unsafe setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      #expect(DescriptorRoom.free() == 50)
      let more = (0..<10).map { _ in dup(0) }
      #expect(!more.contains(-1) && DescriptorRoom.free() == 40)
    }
  }
}
