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
    .library(name: "NetSpoolImages", targets: ["NetSpoolImages"]),
    .library(name: "NetSpoolTesting", targets: ["NetSpoolTesting"]),
    .executable(name: "netspool", targets: ["NetSpoolCLI"]),
  ],
  traits: [
    .default(enabledTraits: ["Logging"]),
    .trait(name: "Logging", description: "Log through swift-log, at debug and below."),
    .trait(name: "Metrics", description: "Tell swift-metrics of requests, queues and caches."),
    .trait(name: "Tracing", description: "Spans by swift-distributed-tracing, and traceparent."),
    .trait(name: "HTTPTypes", description: "Requests and responses of swift-http-types, both ways."),
    .trait(name: "ServiceLifecycle", description: "An engine is a Service."),
    .trait(name: "Brotli", description: "Decode br; needs libbrotli-dev."),
    .trait(name: "Zstd", description: "Decode zstd; needs libzstd-dev."),
    .trait(name: "Images", description: "NetSpoolImages makes thumbnails; needs libvips-dev."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
    .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    // Of the traits of the same names: nobody resolves them without.
    .package(url: "https://github.com/apple/swift-metrics", from: "2.5.0"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.1.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.3.0"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
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
    // Of the traits Brotli and Zstd.
    .systemLibrary(name: "CNetSpoolBrotli", path: "CSupport/CNetSpoolBrotli"),
    .systemLibrary(name: "CNetSpoolZstd", path: "CSupport/CNetSpoolZstd"),
    // Of the trait Images. The pc file of libvips names `-pthread`, of which SwiftPM warns; its headers need those of GObject only.
    .systemLibrary(
      name: "CNetSpoolVips", path: "CSupport/CNetSpoolVips", pkgConfig: "gobject-2.0",
      providers: [.apt(["libvips-dev"])]),
    .target(
      name: "CNetSpoolShims",
      dependencies: ["CNetSpoolCurl"],
      path: "CSupport/CNetSpoolShims"),

    .target(
      name: "NetSpool",
      dependencies: [
        "CNetSpoolShims", "CNetSpoolUV", "CNetSpoolCurl", "CNetSpoolLMDB", "CNetSpoolZlib",
        .target(name: "CNetSpoolBrotli", condition: .when(traits: ["Brotli"])),
        .target(name: "CNetSpoolZstd", condition: .when(traits: ["Zstd"])),
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
        .product(name: "CoreMetrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        .product(
          name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["ServiceLifecycle"])),
      ],
      // Each folder says what lives in it.
      exclude: [
        "API", "Cache", "Engine", "Frozen", "HTTP", "Images", "Loop", "Network", "Queue", "Store", "System",
        "Transfer",
      ].map { "\($0)/README.md" },
      swiftSettings: strict),
    .target(name: "NetSpoolFoundation", dependencies: ["NetSpool"], swiftSettings: strict),
    // Empty without the trait.
    .target(
      name: "NetSpoolImages",
      dependencies: ["NetSpool", .target(name: "CNetSpoolVips", condition: .when(traits: ["Images"]))],
      swiftSettings: strict),
    .target(name: "NetSpoolTesting", dependencies: ["CNetSpoolZlib"], swiftSettings: strict),
    .executableTarget(
      name: "NetSpoolCLI",
      dependencies: [
        "NetSpool", "NetSpoolTesting",
        .target(name: "NetSpoolImages", condition: .when(traits: ["Images"])),
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
      ],
      swiftSettings: strict),

    // What the tests share; it knows no module but the origin's, so that it is built for release as well.
    .target(
      name: "TestSupport", dependencies: ["NetSpoolTesting", "TestTurns"], path: "Tests/Support",
      swiftSettings: strict),
    .target(name: "TestTurns", path: "Tests/Turns"),
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
      name: "NetSpoolTests",
      dependencies: [
        "NetSpool", "NetSpoolTesting", "netspool-crash", "TestSupport",
        .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
        .product(name: "MetricsTestKit", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
        .product(
          name: "InMemoryTracing", package: "swift-distributed-tracing", condition: .when(traits: ["Tracing"])
        ),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPTypes"])),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle",
          condition: .when(traits: ["ServiceLifecycle"])),
      ],
      swiftSettings: strict),
    // Alone and one after the other: `swift test --filter TimingTests`.
    .testTarget(
      name: "TimingTests", dependencies: ["NetSpool", "NetSpoolTesting", "TestSupport"], path: "Tests/Timing",
      swiftSettings: strict),
    .testTarget(
      name: "NetSpoolFoundationTests",
      dependencies: ["NetSpoolFoundation", "NetSpoolTesting", "TestSupport"], swiftSettings: strict),
    .testTarget(
      name: "NetSpoolImagesTests", dependencies: ["NetSpoolImages", "NetSpoolTesting", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "NetSpoolTestingTests", dependencies: ["NetSpool", "NetSpoolTesting", "TestSupport"],
      swiftSettings: strict),
    .testTarget(
      name: "NetSpoolCLITests",
      dependencies: [
        "NetSpool", "NetSpoolCLI", "NetSpoolTesting", "TestSupport",
        .target(name: "NetSpoolImages", condition: .when(traits: ["Images"])),
      ],
      swiftSettings: strict),
  ],
  swiftLanguageModes: [.v6],
  cLanguageStandard: .gnu11
)

// The documentation as a website, for CSupport/site alone: nobody who uses the package resolves the plug-in.
if Context.environment["NETSPOOL_DOCC"] != nil {
  package.dependencies.append(.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.4.0"))
}

// The library and its own tests, for sanitizers: they find nothing in programs that are killed, and the tool is a user of it.
if Context.environment["NETSPOOL_LIBRARY"] != nil {
  let left = ["NetSpoolCLI", "NetSpoolCLITests", "NetSpoolCrashTests", "TimingTests"]
  package.targets.removeAll { left.contains($0.name) }
  package.products.removeAll { $0.name == "netspool" }
}

// The tests that are there with traits only: all others need not be built once more for them.
if Context.environment["NETSPOOL_TRAIT_TESTS"] != nil {
  let parts = [
    "NetSpoolTests": [
      "API/Traits", "Support", "Cache/AnswerScopeSettingsTests.swift",
      "Engine/Freezing/FreezingFixture.swift",
    ],
    "NetSpoolCLITests": ["Images", "Support"], "NetSpoolImagesTests": nil,
  ]
  package.targets.removeAll { $0.type == .test && parts[$0.name] == nil }
  for target in package.targets { target.sources = parts[target.name] ?? target.sources }
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
