import Testing

@testable import NetSpoolCLI

@Suite struct ShardTests {
  @Test(arguments: [1, 2, 3, 7, 8, 64])
  func `shards are disjoint and together complete`(count: Int) throws {
    let shards = try (0..<count).map { try #require(Shard(index: $0, count: count)) }
    var sizes = [Int](repeating: 0, count: count)
    for number in 0..<2_000 {
      let owners = shards.filter { $0.contains("https://example.org/thumbs/\(number).png") }
      try #require(owners.count == 1)
      sizes[owners[0].index] += 1
    }
    #expect(sizes.allSatisfy { $0 > 2_000 / count / 4 }, "even enough: \(sizes)")
  }

  /// Reference values from the Python lines in `Shard`'s documentation. They must never change.
  @Test(arguments: [
    ("", 0xefd0_1f60_ba99_2926 as UInt64), ("http://h/a", 0xdbb2_a4ec_7fcd_f5f4),
    ("https://example.org/ü.png", 0x0aca_c0ef_b630_093d),
  ])
  func `the hash is the documented one`(url: String, hash: UInt64) { #expect(Shard.hash(url) == hash) }

  @Test(arguments: ["0/1", "0/4", "3/4", "999999/1000000"])
  func `takes a shard`(text: String) { #expect(Shard(text) != nil) }

  @Test(arguments: [
    "", "1", "4/4", "1/1", "-1/4", "+1/4", "0/0", "0/1000001", "1/2/3", "a/b", "1/", "/2", " 1/2",
  ])
  func `refuses what is no shard`(text: String) { #expect(Shard(text) == nil) }

  @Test(
    arguments: [
      ([:], nil, nil),
      (["JOB_COMPLETION_INDEX": "2", "NETSPOOL_SHARDS": "4"], "2/4", "JOB_COMPLETION_INDEX"),
      (["JOB_COMPLETION_INDEX": "2"], nil, nil),
      (["SLURM_ARRAY_TASK_ID": "0", "SLURM_ARRAY_TASK_COUNT": "8"], "0/8", "SLURM_ARRAY_TASK_ID"),
      (
        ["SLURM_ARRAY_TASK_ID": "5", "SLURM_ARRAY_TASK_COUNT": "1", "NETSPOOL_SHARDS": "8"], "5/8",
        "SLURM_ARRAY_TASK_ID"
      ),
      (["SLURM_ARRAY_TASK_ID": "5"], nil, nil),
      (["JOB_COMPLETION_INDEX": "", "NETSPOOL_SHARDS": ""], nil, nil),
    ] as [([String: String], String?, String?)])
  func `takes the scheduler's assignment`(variables: [String: String], shard: String?, origin: String?) throws
  {
    let assigned = try Shard.assigned(Environment(variables))
    #expect(assigned?.shard == shard.flatMap { Shard($0) })
    #expect(assigned?.origin == origin)
  }

  @Test(arguments: [
    ["NETSPOOL_SHARDS": "4"], ["JOB_COMPLETION_INDEX": "4", "NETSPOOL_SHARDS": "4"],
    ["JOB_COMPLETION_INDEX": "x", "NETSPOOL_SHARDS": "4"],
    ["SLURM_ARRAY_TASK_ID": "8", "SLURM_ARRAY_TASK_COUNT": "8"],
  ])
  func `refuses an assignment that is no shard`(variables: [String: String]) {
    let mistake = #expect(throws: Mistake.self) { try Shard.assigned(Environment(variables)) }
    #expect(mistake?.description.contains("--shard") == true)
  }
}
