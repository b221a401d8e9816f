import Testing

@testable import NetSpool
@testable import TestSupport

@Suite("Where files lie")
struct MountTableTests {
  private static let table = MountTable(
    report: """
      22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
      30 22 0:27 / /dev/shm rw shared:4 - tmpfs tmpfs rw
      40 22 0:50 / /mnt/far\\040away rw - nfs4 server:/ rw
      41 22 0:51 / /mnt rw - tmpfs over rw
      42 22 0:52 / /mnt rw - tmpfs later rw
      a line that is none
      """)

  private static func number(_ major: UInt64, _ minor: UInt64) -> MountTable.Device { major << 32 | minor }

  @Test(arguments: [
    ("/", 8, 1), ("/home/a", 8, 1), ("/dev/shm/a/b", 0, 27), ("/dev/shmem", 8, 1), ("/mnt/far away/x", 0, 50),
    ("/mnt/x", 0, 52), ("/mnt/./far away//../x", 0, 52), ("/home/../dev/shm", 0, 27),
  ])
  func `is told by the innermost mount`(_ path: String, _ major: UInt64, _ minor: UInt64) {
    #expect(Self.table.device(of: path) == Self.number(major, minor))
  }

  @Test func `is what the system says`() throws {
    let folder = try TestFolder()
    let device = try FileStatus(path: folder.path).identity.device
    let number = Self.number(device >> 8 & 0xFFF, device & 0xFF | device >> 12 & 0xFFF00)
    #expect(MountTable.current().device(of: folder.path) == number)
  }
}
