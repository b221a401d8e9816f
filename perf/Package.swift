// swift-tools-version: 6.2
// The benchmarks, as a package of their own: who uses the library never resolves what is compared here.
import PackageDescription

/// The rules of the library hold here too: unsafe code must say so, and a warning is an error.
let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "NetSpoolPerf",
  products: [
    .executable(name: "bench-netspool", targets: ["BenchNetSpool"]),
    .executable(name: "bench-ahc", targets: ["BenchAHC"]),
    .executable(name: "bench-foundation", targets: ["BenchFoundation"]),
  ],
  dependencies: [
    .package(name: "NetSpool", path: ".."),
    // Exact: a measured rival must not change between two reports by itself.
    .package(url: "https://github.com/swift-server/async-http-client", exact: "1.37.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.81.0"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.29.0"),
  ],
  targets: [
    .target(name: "BenchKit", swiftSettings: strict),
    .executableTarget(
      name: "BenchNetSpool",
      dependencies: ["BenchKit", .product(name: "NetSpool", package: "NetSpool")],
      swiftSettings: strict),
    .executableTarget(name: "BenchFoundation", dependencies: ["BenchKit"], swiftSettings: strict),
    .executableTarget(
      name: "BenchAHC",
      dependencies: [
        "BenchKit",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6]
)
