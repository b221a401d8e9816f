// swift-tools-version: 6.2
import PackageDescription

/// Every Swift target is held to the same rules: unsafe code must say so, and a warning is an error.
let strict: [SwiftSetting] = [
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableExperimentalFeature("Lifetimes"),
]

let package = Package(
  name: "NetSpool",
  products: [
    .library(name: "NetSpool", targets: ["NetSpool"]),
    .library(name: "NetSpoolFoundation", targets: ["NetSpoolFoundation"]),
    .library(name: "NetSpoolTesting", targets: ["NetSpoolTesting"]),
    .executable(name: "netspool", targets: ["NetSpoolCLI"]),
  ],
  traits: [
    .default(enabledTraits: ["Logging"]),
    .trait(name: "Logging", description: "Log through swift-log, at debug and below."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
  ],
  targets: [
    // The four C libraries, and our typed wrappers of what Swift cannot call by itself.
    .systemLibrary(
      name: "CNetSpoolUV", path: "CSupport/CNetSpoolUV", pkgConfig: "libuv",
      providers: [.apt(["libuv1-dev"])]),
    .systemLibrary(
      name: "CNetSpoolCurl", path: "CSupport/CNetSpoolCurl", pkgConfig: "libcurl",
      providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(
      name: "CNetSpoolLMDB", path: "CSupport/CNetSpoolLMDB", pkgConfig: "lmdb",
      providers: [.apt(["liblmdb-dev"])]),
    .systemLibrary(
      name: "CNetSpoolZlib", path: "CSupport/CNetSpoolZlib", pkgConfig: "zlib",
      providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "CNetSpoolShims",
      dependencies: ["CNetSpoolCurl"],
      path: "CSupport/CNetSpoolShims"),

    .target(
      name: "NetSpool",
      dependencies: [
        "CNetSpoolShims", "CNetSpoolUV", "CNetSpoolCurl", "CNetSpoolLMDB", "CNetSpoolZlib",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
      ],
      // Each folder says what lives in it.
      exclude: [
        "Cache", "Frozen", "HTTP", "Images", "Loop", "Network", "Queue", "Store", "System", "Transfer",
      ].map { "\($0)/README.md" },
      swiftSettings: strict),
    .target(name: "NetSpoolFoundation", dependencies: ["NetSpool"], swiftSettings: strict),
    .target(name: "NetSpoolTesting", dependencies: ["CNetSpoolShims"], swiftSettings: strict),
    .executableTarget(
      name: "NetSpoolCLI",
      dependencies: [
        "NetSpool", "NetSpoolTesting",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),

    // What the tests share; it knows no other module, so that it is built for release as well.
    .target(name: "TestSupport", path: "Tests/Support", swiftSettings: strict),
    // The crash tests are a program, so that they can be run for as long as one likes: CONTRIBUTING.md.
    .executableTarget(
      name: "netspool-crash",
      dependencies: [
        "NetSpool", "NetSpoolTesting", "TestSupport",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      path: "Tests/Crash", exclude: ["Power/recorder.c"], swiftSettings: strict),

    .testTarget(
      name: "NetSpoolCrashTests", dependencies: ["netspool-crash", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "NetSpoolTests", dependencies: ["NetSpool", "NetSpoolTesting", "netspool-crash", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "NetSpoolFoundationTests",
      dependencies: ["NetSpoolFoundation", "NetSpoolTesting", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "NetSpoolTestingTests", dependencies: ["NetSpoolTesting"], swiftSettings: strict),
    .testTarget(
      name: "NetSpoolCLITests", dependencies: ["NetSpoolCLI", "NetSpoolTesting", "TestSupport"],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu11
)

// The documentation as a website, for CSupport/site alone: nobody who uses the package resolves the plug-in.
if Context.environment["NETSPOOL_DOCC"] != nil {
  package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0"))
}

// Fuzz targets, for Fuzz/run alone: every module they look into is built with libFuzzer's counters and
// AddressSanitizer, and shows its inner parts.
if Context.environment["FUZZ"] != nil {
  let flags = ["-sanitize=fuzzer,address", "-enable-testing"]
  for target in package.targets where target.name == "NetSpool" {
    target.swiftSettings = strict + [.unsafeFlags(flags)]
  }
  let shims = package.targets.first { $0.name == "CNetSpoolShims" }
  shims?.cSettings = [
    .unsafeFlags(["-fsanitize=fuzzer-no-link,address,undefined", "-fsanitize-trap=undefined"])
  ]
  package.targets += [
    .systemLibrary(name: "CFuzz", path: "Fuzz/CFuzz"),
    .executableTarget(
      name: "Fuzz", dependencies: ["CFuzz", "NetSpool", "CNetSpoolCurl", "CNetSpoolZlib"],
      path: "Fuzz/Sources", swiftSettings: strict + [.unsafeFlags(flags + ["-parse-as-library"])],
      linkerSettings: [.unsafeFlags(["-sanitize=fuzzer,address"])]),
  ]
}
