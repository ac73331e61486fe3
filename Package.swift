// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

// Test targets are compiled as a whole and without the compiler's checks of itself, which takes a third less time than
// file by file. Set PIPELINE_INCREMENTAL=1 while you change tests, to compile only the files that change.
let wholeModule: [SwiftSetting] =
    Context.environment["PIPELINE_INCREMENTAL"] == nil
    ? [
        .unsafeFlags([
            "-disable-batch-mode", "-whole-module-optimization", "-num-threads", "2", "-no-emit-module-separately-wmo",
            "-Xfrontend", "-sil-verify-none",
        ])
    ]
    : []
let testSettings = swiftSettings + wholeModule

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let structuredFields = Target.Dependency.product(
    name: "RawStructuredFieldValues",
    package: "swift-http-structured-headers"
)
let openCombine = Target.Dependency.product(
    name: "OpenCombine",
    package: "OpenCombine",
    condition: .when(traits: ["OpenCombine"])
)
let metrics = Target.Dependency.product(
    name: "Metrics",
    package: "swift-metrics",
    condition: .when(traits: ["Metrics"])
)
let tracing = Target.Dependency.product(
    name: "Tracing",
    package: "swift-distributed-tracing",
    condition: .when(traits: ["Tracing"])
)
let brotli = Target.Dependency.target(name: "CBrotli", condition: .when(traits: ["Brotli"]))
let zstd = Target.Dependency.target(name: "CZstd", condition: .when(traits: ["Zstd"]))
let sqlite = Target.Dependency.target(
    name: "CSQLite",
    condition: .when(platforms: [.linux, .android], traits: ["SQLite"])
)
// CryptoKit on Apple platforms; swift-crypto also has RSA there.
let crypto = ["Crypto", "CryptoExtras"].map { name in
    Target.Dependency.product(name: name, package: "swift-crypto", condition: .when(traits: ["Crypto"]))
}
let hiredis = Target.Dependency.target(name: "CHiredis", condition: .when(traits: ["Redis"]))
let asyncHTTPClient = Target.Dependency.product(
    name: "AsyncHTTPClient",
    package: "async-http-client",
    condition: .when(traits: ["AsyncHTTPClient"])
)
func nio(_ name: String) -> Target.Dependency {
    .product(name: name, package: "swift-nio", condition: .when(traits: ["AsyncHTTPClient"]))
}
let nioSSL = Target.Dependency.product(
    name: "NIOSSL",
    package: "swift-nio-ssl",
    condition: .when(traits: ["AsyncHTTPClient"])
)
let nioHTTP2 = Target.Dependency.product(
    name: "NIOHTTP2",
    package: "swift-nio-http2",
    condition: .when(traits: ["AsyncHTTPClient"])
)
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser",
    package: "swift-argument-parser",
    condition: .when(traits: ["HARCommand"])
)
let inspectorServer = ["FlyingFox", "FlyingSocks"].map { name in
    Target.Dependency.product(name: name, package: "FlyingFox", condition: .when(traits: ["Inspector"]))
}

let package = Package(
    name: "Pipeline",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Pipeline", targets: ["Pipeline"]),
        .library(name: "PipelinePlugins", targets: ["PipelinePlugins"]),
        .library(name: "PipelineStores", targets: ["PipelineStores"]),
        .library(name: "PipelineTransports", targets: ["PipelineTransports"]),
        .library(name: "PipelineRecording", targets: ["PipelineRecording"]),
        .library(name: "PipelineAPI", targets: ["PipelineAPI"]),
        .library(name: "PipelineCombine", targets: ["PipelineCombine"]),
        .library(name: "PipelineMoya", targets: ["PipelineMoya"]),
        .library(name: "PipelineTesting", targets: ["PipelineTesting"]),
        // Not part of PipelineTesting, because it replaces malloc in every program that links it.
        .library(name: "PipelineAllocations", targets: ["PipelineAllocations"]),
        .library(name: "PipelineReplayTesting", targets: ["PipelineReplayTesting"]),
        .executable(name: "har", targets: ["har"]),
    ],
    traits: [
        .trait(name: "AsyncHTTPClient", description: "AsyncHTTPClientTransport, with async-http-client"),
        .trait(name: "OpenCombine", description: "PipelineCombine on platforms without Combine, with OpenCombine"),
        .trait(name: "Metrics", description: "MetricsPlugin, with swift-metrics"),
        .trait(name: "Tracing", description: "TracingPlugin, with swift-distributed-tracing"),
        .trait(name: "Brotli", description: "GzipPlugin also decodes br, with libbrotlidec"),
        .trait(name: "Zstd", description: "GzipPlugin also decodes zstd, with libzstd"),
        .trait(name: "SQLite", description: "DiskCacheStore on platforms other than Apple's, with libsqlite3"),
        .trait(name: "Redis", description: "RedisCacheStore and RedisRateLimitStore, with libhiredis"),
        .trait(
            name: "Crypto",
            description: "Signatures, DPoP and webhooks on platforms without CryptoKit, and RSA, with swift-crypto"
        ),
        .trait(name: "Inspector", description: "InspectorPlugin(.loopback()), with FlyingFox"),
        .trait(name: "HARCommand", description: "The command har, with swift-argument-parser"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-http-structured-headers", from: "1.7.0"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    ],
    targets: [
        // Hash functions that plugins, transports and recordings share. No product offers them.
        .target(name: "PipelineHashes", path: "Sources/Hashes", swiftSettings: swiftSettings),
        .target(
            name: "PipelineRedaction",
            dependencies: [httpTypes],
            path: "Sources/Redaction",
            swiftSettings: swiftSettings
        ),
        .target(name: "Pipeline", dependencies: ["PipelineRedaction", httpTypes], swiftSettings: swiftSettings),
        .target(
            name: "PipelineStores",
            dependencies: ["PipelineRedaction", httpTypes, sqlite, hiredis],
            path: "Sources/Stores",
            swiftSettings: swiftSettings
        ),
        // Content codings, which plugins and recordings share. No product offers them.
        .target(
            name: "PipelineContentCoding",
            dependencies: ["Pipeline", "CZlib", brotli, zstd, httpTypes],
            path: "Sources/ContentCoding",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelinePlugins",
            dependencies: [
                "Pipeline", "PipelineStores", "PipelineContentCoding", "PipelineHashes", "CZlib", httpTypes,
                structuredFields, logging, metrics, tracing,
            ] + crypto,
            path: "Sources/Plugins",
            // The plugins use only public API, like third-party plugins.
            packageAccess: false,
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelineTransports",
            dependencies: [
                "Pipeline", "PipelineHashes", httpTypes, asyncHTTPClient, nio("NIOCore"), nio("NIOHTTP1"),
                nio("NIOPosix"), nio("NIOTLS"), nioSSL, nioHTTP2,
            ],
            path: "Sources/Transports",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelineTesting",
            dependencies: ["Pipeline", "PipelineStores", httpTypes],
            path: "Sources/Testing",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelineAllocations",
            dependencies: ["Pipeline", "CAllocations"],
            path: "Sources/Allocations",
            swiftSettings: swiftSettings
        ),
        .target(name: "CAllocations"),
        .target(
            name: "PipelineAPI",
            dependencies: ["Pipeline", httpTypes],
            path: "Sources/API",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelineCombine",
            dependencies: ["Pipeline", "PipelineAPI", openCombine],
            path: "Sources/Combine",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelineMoya",
            dependencies: ["Pipeline", "PipelinePlugins", "PipelineTransports", httpTypes, openCombine],
            path: "Sources/Moya",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelineRecording",
            dependencies: ["Pipeline", "PipelineContentCoding", "PipelineHashes", httpTypes] + inspectorServer,
            path: "Sources/Recording",
            exclude: ["Command", "Testing"],
            resources: ["html", "css", "js"].map { .embedInCode("Inspector/Page/inspector.\($0)") },
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelineReplayTesting",
            dependencies: ["Pipeline", "PipelineRecording", "PipelineTransports"],
            path: "Sources/Recording/Testing",
            swiftSettings: swiftSettings
        ),
        // Without the trait HARCommand, it only reports that the trait is missing, so that users do not fetch
        // ArgumentParser.
        .executableTarget(
            name: "har",
            dependencies: ["Pipeline", "PipelineRecording", httpTypes, argumentParser],
            path: "Sources/Recording/Command",
            swiftSettings: swiftSettings
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(
            name: "CBrotli",
            pkgConfig: "libbrotlidec",
            providers: [.apt(["libbrotli-dev"]), .brew(["brotli"])]
        ),
        .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"]), .brew(["zstd"])]),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CHiredis",
            pkgConfig: "hiredis",
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]
        ),
        .target(
            name: "TestSupport",
            dependencies: [
                "Pipeline", "PipelineTransports", "PipelineTesting", "CZlib", httpTypes, asyncHTTPClient,
                nio("NIOCore"),
            ],
            path: "Tests/Support",
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineRedactionTests",
            dependencies: ["PipelineRedaction", "Pipeline", "TestSupport", httpTypes],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineStoresTests",
            dependencies: ["PipelineStores", "PipelineTesting", "TestSupport", httpTypes],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineTests",
            dependencies: [
                "Pipeline", "PipelineAPI", "PipelinePlugins", "PipelineTransports", "PipelineRecording",
                "PipelineReplayTesting", "PipelineStores", "PipelineTesting", "PipelineAllocations", "TestSupport",
                httpTypes, logging, metrics, asyncHTTPClient, nio("NIOCore"),
            ],
            exclude: ["Documentation/Replays"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineAPITests",
            dependencies: [
                "Pipeline", "PipelineAPI", "PipelinePlugins", "PipelineTransports", "PipelineTesting", "TestSupport",
                httpTypes,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelinePluginsTests",
            dependencies: [
                "Pipeline", "PipelineAPI", "PipelineHashes", "PipelinePlugins", "PipelineStores", "PipelineTesting",
                "PipelineTransports", "TestSupport", "CZlib", httpTypes, logging,
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineTransportsTests",
            dependencies: [
                "Pipeline", "PipelineAPI", "PipelinePlugins", "PipelineTransports", "PipelineTesting", "TestSupport",
                httpTypes, asyncHTTPClient, nio("NIOCore"),
            ],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineMoyaTests",
            dependencies: [
                "Pipeline", "PipelineMoya", "PipelinePlugins", "PipelineTesting", "PipelineTransports", "TestSupport",
                httpTypes,
            ],
            // No upcoming features: the samples are compiled like source that was written for Moya.
            swiftSettings: wholeModule
        ),
        .testTarget(
            name: "AppIsolationTests",
            dependencies: ["Pipeline", "PipelineAPI", "PipelinePlugins", "PipelineTesting", "TestSupport", httpTypes],
            swiftSettings: [.defaultIsolation(MainActor.self)] + wholeModule
        ),
        .testTarget(
            name: "PipelineRecordingTests",
            dependencies: [
                "Pipeline", "PipelineHashes", "PipelinePlugins", "PipelineStores", "PipelineTransports",
                "PipelineRecording", "PipelineReplayTesting", "PipelineTesting", "TestSupport", "har", httpTypes,
            ],
            exclude: ["HAR/Samples", "Testing/Replays"],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineTestingTests",
            dependencies: ["Pipeline", "PipelineTesting", "TestSupport", httpTypes],
            swiftSettings: testSettings
        ),
        .testTarget(
            name: "PipelineAllocationsTests",
            dependencies: ["Pipeline", "PipelineAllocations", "PipelinePlugins", "PipelineTransports", "TestSupport"],
            swiftSettings: testSettings
        ),
        // The targets of the package Fuzz, with their settings.
        .testTarget(
            name: "FuzzCorpusTests",
            dependencies: [
                "Pipeline", "PipelinePlugins", "PipelineRecording", "PipelineRedaction", "PipelineTesting",
                "TestSupport", httpTypes,
            ],
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ] + wholeModule
        ),
    ],
    swiftLanguageModes: [.v6]
)
