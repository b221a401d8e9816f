import ArgumentParser
import NetSpool
import Testing

@testable import NetSpoolCLI
@testable import TestSupport

@Suite struct CachePlaceTests {
  @Test(
    arguments: [
      (["HOME": "/h"], "/h/.cache/netspool/default"),
      (["HOME": "/h", "XDG_CACHE_HOME": "/x"], "/x/netspool/default"),
      (["HOME": "/h", "XDG_CACHE_HOME": "relative"], "/h/.cache/netspool/default"),
      (["XDG_CACHE_HOME": "/x"], "/x/netspool/default"), (["HOME": "relative"], nil), ([:], nil),
    ] as [([String: String], String?)])
  func `the user's cache is the default`(variables: [String: String], path: String?) throws {
    #expect(try CachePlace.parse([]).path(Environment(variables)) == path)
    #expect(try CachePlace.parse(["--cache", "here"]).path(Environment(variables)) == "here")
  }

  @Test func `a cache that is nowhere is a failure unless it is not wanted`() throws {
    let nowhere = Environment([:])
    #expect(throws: StoreFailure.nowhere(.cache)) { try CacheOptions.parse([]).settings(nowhere) }
    #expect(try CacheOptions.parse(["--no-cache"]).settings(nowhere)?.directory == nil)
  }

  @Test(arguments: [("1M", 1 << 18), ("20M", 5 << 20), ("64M", 16 << 20), ("1G", 16 << 20)])
  func `the largest body never takes the whole cache`(size: String, bodyBytesMax: Int) throws {
    let settings = try CacheOptions.parse(["--cache-size", size]).settings(Environment(["HOME": "/h"]))
    #expect(settings?.bodyBytesMax == bodyBytesMax)
  }
}
