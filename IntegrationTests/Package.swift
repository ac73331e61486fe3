// swift-tools-version: 6.2
import PackageDescription

// The tests that need package traits, servers or a browser, and those of the examples. A folder `Shared` has links to
// tests and helpers of the root package, which run here a second time: with all traits, and also over AsyncHTTPClient.

let traits = ["AsyncHTTPClient", "Compression", "Crypto", "OpenCombine", "Redis", "SQLite", "Telemetry", "Tools"]

// As in the root package: test targets are compiled as a whole, unless PIPELINE_INCREMENTAL is set.
let wholeModule: [SwiftSetting] =
    Context.environment["PIPELINE_INCREMENTAL"] == nil
    ? [
        .unsafeFlags([
            "-disable-batch-mode", "-whole-module-optimization", "-num-threads", "2", "-no-emit-module-separately-wmo",
            "-Xfrontend", "-sil-verify-none",
        ])
    ] : []

let swiftSettings: [SwiftSetting] =
    [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ] + traits.map { .define($0) }
let testSettings = swiftSettings + wholeModule

func pipeline(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "Pipeline") }
}

func products(_ names: String..., package: String) -> [Target.Dependency] {
    names.map { .product(name: $0, package: package) }
}

// What nearly all tests use.
let common =
    pipeline(
        "Pipeline",
        "PipelineCore",
        "PipelinePlugins",
        "PipelineResilience",
        "PipelineCaching",
        "PipelineAuth",
        "PipelineSigning",
        "PipelineTelemetry",
        "PipelineTransports",
        "PipelineRecording",
        "PipelineInspector",
        "PipelineAPI",
        "PipelineTesting",
        "PipelineStoreTesting",
        "PipelineReplayTesting"
    ) + products("HTTPTypes", package: "swift-http-types")
let asyncHTTPClient = products("AsyncHTTPClient", package: "async-http-client")
let nioCore = products("NIOCore", package: "swift-nio")
let nio = nioCore + products("NIOHTTP1", "NIOPosix", package: "swift-nio")
let nioSSL = products("NIOSSL", package: "swift-nio-ssl")
let logging = products("Logging", package: "swift-log")
let metrics = products("Metrics", package: "swift-metrics")
let tracing = products("Tracing", package: "swift-distributed-tracing")
let metricsTestKit = products("MetricsTestKit", package: "swift-metrics")
let inMemoryTracing = products("InMemoryTracing", package: "swift-distributed-tracing")
let crypto = products("Crypto", package: "swift-crypto")
let openCombine = products("OpenCombine", package: "OpenCombine")
let arguments = products("ArgumentParser", package: "swift-argument-parser")
let unixSignals = products("UnixSignals", package: "swift-service-lifecycle")
let service =
    products("Hummingbird", package: "hummingbird")
    + products("ServiceLifecycle", package: "swift-service-lifecycle")

let package = Package(
    name: "IntegrationTests",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Pipeline", path: "..", traits: Set(traits.map { .init(name: $0) })),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(name: "TestSupport", dependencies: common + asyncHTTPClient + nioCore, swiftSettings: swiftSettings),
        // Checks telemetry against OpenTelemetry's conventions.
        .target(
            name: "TelemetryChecks",
            dependencies: common + tracing + inMemoryTracing,
            swiftSettings: swiftSettings
        ),
        // A link to what the drivers in Swift share in Comparisons/Faults, which tests run in their own process.
        .target(name: "Driving", swiftSettings: swiftSettings),
        // Writes to a DiskCacheStore until it is killed by a test.
        .executableTarget(name: "cachewriter", dependencies: common, swiftSettings: swiftSettings),
        // One of the processes that share a rate limit in a test.
        .executableTarget(name: "ratelimitworker", dependencies: common, swiftSettings: swiftSettings),
        // The examples, whose folders are packages of their own.
        .executableTarget(
            name: "caching-proxy",
            dependencies: common + asyncHTTPClient + nio,
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "github",
            dependencies: common + arguments,
            resources: [.embedInCode("Recording/github.har")],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "gateway",
            dependencies: common + nioCore + logging + metrics + tracing + service + unixSignals,
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "PipelineStoresTests",
            dependencies: common + ["TestSupport", "cachewriter", "ratelimitworker"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelinePluginsTests",
            dependencies: common + logging + ["TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineCachingTests",
            dependencies: common + logging + ["TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineAuthTests",
            dependencies: common + logging + crypto + ["TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineSigningTests",
            dependencies: common + logging + ["TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineTelemetryTests",
            dependencies: common + logging + metrics + metricsTestKit + tracing + inMemoryTracing
                + ["TestSupport", "TelemetryChecks"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineTransportsTests",
            dependencies: common + asyncHTTPClient + nio + products("NIOEmbedded", package: "swift-nio") + nioSSL
                + ["Driving", "TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineRecordingTests",
            dependencies: common + pipeline("har") + ["TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineCombineTests",
            dependencies: common + pipeline("PipelineCombine") + openCombine + ["TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineMoyaTests",
            dependencies: common + pipeline("PipelineMoya") + openCombine + ["TestSupport"],
            // No upcoming features: the samples are compiled like source that was written for Moya.
            swiftSettings: traits.map { .define($0) } + wholeModule
        ),
        // The samples of the guides. No source imports PipelineAllocations, but scripts/docs reads its built module.
        .testTarget(
            name: "DocumentationTests",
            dependencies: common + asyncHTTPClient + nioCore + logging + metrics + tracing + service + unixSignals
                + pipeline("PipelineAllocations") + ["gateway", "TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "GitHubClientTests",
            dependencies: common + arguments + ["github", "TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "GatewayTests",
            dependencies: common + metrics + tracing + service + ["gateway", "TestSupport"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: common + asyncHTTPClient + nioSSL + logging + ["TelemetryChecks", "TestSupport"],
            exclude: ["httpbin", "mitmproxy", "OAuth/server"],
            swiftSettings: testSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)
