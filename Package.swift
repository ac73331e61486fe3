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
    condition: .when(traits: ["Telemetry"])
)
let tracing = Target.Dependency.product(
    name: "Tracing",
    package: "swift-distributed-tracing",
    condition: .when(traits: ["Telemetry"])
)
let brotli = Target.Dependency.target(name: "CBrotli", condition: .when(traits: ["Compression"]))
let zstd = Target.Dependency.target(name: "CZstd", condition: .when(traits: ["Compression"]))
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
    condition: .when(traits: ["Tools"])
)
let inspectorServer = ["FlyingFox", "FlyingSocks"].map { name in
    Target.Dependency.product(name: name, package: "FlyingFox", condition: .when(traits: ["Tools"]))
}

// Each library is a module, and its folder has the name without "Pipeline". PipelineAllocations is not part of
// PipelineTesting, because it replaces malloc in every program that links it.
let libraries = [
    "Pipeline", "PipelineCore", "PipelinePlugins", "PipelineResilience", "PipelineCaching", "PipelineAuth",
    "PipelineSigning", "PipelineTelemetry", "PipelineTransports", "PipelineRecording", "PipelineInspector",
    "PipelineAPI", "PipelineCombine", "PipelineMoya", "PipelineTesting", "PipelineStoreTesting",
    "PipelineReplayTesting", "PipelineAllocations",
]

/// A module of the library.
func module(_ name: String, in folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(name: name, dependencies: dependencies, path: "Sources/\(folder)", swiftSettings: swiftSettings)
}

/// A module of plugins: they use only public API, like those of other packages.
func pluginModule(_ name: String, in folder: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name,
        dependencies: ["PipelineCore", httpTypes] + dependencies,
        path: "Sources/Plugins/\(folder)",
        packageAccess: false,
        swiftSettings: swiftSettings
    )
}

/// Tests, which can use what nearly all of them need.
func tests(
    _ name: String,
    _ dependencies: [Target.Dependency],
    exclude: [String] = [],
    settings: [SwiftSetting] = testSettings
) -> Target {
    .testTarget(
        name: name,
        dependencies: [
            "Pipeline", "PipelineCore", "PipelinePlugins", "PipelineTransports", "PipelineTesting", "TestSupport",
            httpTypes,
        ] + dependencies,
        exclude: exclude,
        swiftSettings: settings
    )
}
let pluginModules: [Target.Dependency] = [
    "PipelineResilience", "PipelineCaching", "PipelineAuth", "PipelineSigning", "PipelineTelemetry",
]

/// Tests of plugins, with the helpers in Tests/PluginSupport.
func pluginTests(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    tests(name, pluginModules + ["CZlib", logging] + dependencies)
}

let package = Package(
    name: "Pipeline",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: libraries.map { .library(name: $0, targets: [$0]) } + [.executable(name: "har", targets: ["har"])],
    traits: [
        .trait(name: "AsyncHTTPClient", description: "AsyncHTTPClientTransport, with async-http-client"),
        .trait(name: "OpenCombine", description: "PipelineCombine on platforms without Combine, with OpenCombine"),
        .trait(
            name: "Telemetry",
            description: "MetricsPlugin and TracingPlugin, with swift-metrics and swift-distributed-tracing"
        ),
        .trait(name: "Compression", description: "GzipPlugin also decodes br and zstd, with libbrotlidec and libzstd"),
        .trait(name: "SQLite", description: "DiskCacheStore on platforms other than Apple's, with libsqlite3"),
        .trait(name: "Redis", description: "RedisCacheStore and RedisRateLimitStore, with libhiredis"),
        .trait(
            name: "Crypto",
            description: "Signatures, DPoP and webhooks on platforms without CryptoKit, and RSA, with swift-crypto"
        ),
        .trait(
            name: "Tools",
            description: "The command har and InspectorPlugin(.loopback()), with swift-argument-parser and FlyingFox"
        ),
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
        // The everyday import: re-exports three modules.
        module("Pipeline", in: "Pipeline", ["PipelineCore", "PipelinePlugins", "PipelineTransports", httpTypes]),
        module("PipelineRedaction", in: "Redaction", [httpTypes]),
        module("PipelineCore", in: "Core", ["PipelineRedaction", "PipelineHashes", httpTypes]),
        pluginModule("PipelinePlugins", in: "Standard", ["PipelineContentCoding", logging]),
        pluginModule(
            "PipelineResilience",
            in: "Resilience",
            ["PipelinePlugins", "PipelineHashes", "PipelineRedis", structuredFields]
        ),
        pluginModule(
            "PipelineCaching",
            in: "Caching",
            ["PipelineHashes", "PipelineFiles", structuredFields, sqlite, "PipelineRedis"]
        ),
        pluginModule("PipelineAuth", in: "Auth", ["PipelinePlugins", "PipelineHashes", "PipelineFiles"] + crypto),
        pluginModule("PipelineSigning", in: "Signing", ["PipelineHashes", structuredFields] + crypto),
        pluginModule("PipelineTelemetry", in: "Telemetry", [metrics, tracing]),
        module(
            "PipelineTransports",
            in: "Transports",
            [
                "PipelineCore", "PipelineHashes", httpTypes, asyncHTTPClient, nio("NIOCore"), nio("NIOHTTP1"),
                nio("NIOPosix"), nio("NIOTLS"), nioSSL, nioHTTP2,
            ]
        ),
        module(
            "PipelineRecording",
            in: "Recording",
            ["PipelineCore", "PipelineContentCoding", "PipelineHashes", httpTypes]
        ),
        .target(
            name: "PipelineInspector",
            dependencies: ["PipelineCore", "PipelineRedaction", "PipelineHashes", "PipelineRecording", httpTypes]
                + inspectorServer,
            path: "Sources/Inspector",
            resources: ["html", "css", "js"].map { .embedInCode("Page/inspector.\($0)") },
            swiftSettings: swiftSettings
        ),
        module("PipelineAPI", in: "API", ["PipelineCore", httpTypes]),
        module("PipelineCombine", in: "Combine", ["PipelineCore", "PipelineAPI", openCombine]),
        module(
            "PipelineMoya",
            in: "Moya",
            [
                "Pipeline", "PipelineCore", "PipelinePlugins", "PipelineAuth", "PipelineTransports", httpTypes,
                openCombine,
            ]
        ),
        module("PipelineTesting", in: "Testing", ["PipelineCore", httpTypes]),
        module(
            "PipelineStoreTesting",
            in: "StoreTesting",
            ["PipelineCore", "PipelineTesting", "PipelineResilience", "PipelineCaching", "PipelineAuth", httpTypes]
        ),
        module(
            "PipelineReplayTesting",
            in: "ReplayTesting",
            ["PipelineCore", "PipelineRecording", "PipelineTransports"]
        ),
        module("PipelineAllocations", in: "Allocations", ["PipelineCore", "CAllocations"]),
        .target(name: "CAllocations"),
        // Without the trait Tools, it only reports that the trait is missing, so that users do not fetch ArgumentParser.
        .executableTarget(
            name: "har",
            dependencies: ["PipelineCore", "PipelineRecording", "PipelineInspector", httpTypes, argumentParser],
            path: "Sources/Command",
            swiftSettings: swiftSettings
        ),
        // What several modules share. No product offers it.
        module("PipelineHashes", in: "Hashes", []),
        module("PipelineFiles", in: "Files", []),
        module("PipelineRedis", in: "Redis", ["PipelineRedaction", hiredis]),
        module("PipelineContentCoding", in: "ContentCoding", ["PipelineCore", "CZlib", brotli, zstd, httpTypes]),
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
            dependencies: ["Pipeline", "PipelineTesting", "CZlib", httpTypes, asyncHTTPClient, nio("NIOCore")],
            path: "Tests/Support",
            swiftSettings: testSettings
        ),
        tests("PipelineRedactionTests", ["PipelineRedaction"]),
        tests("PipelineStoresTests", pluginModules + ["PipelineFiles", "PipelineStoreTesting"]),
        tests("PipelineCoreTests", ["PipelineAPI", "PipelineReplayTesting"]),
        tests(
            "DocumentationTests",
            pluginModules + [
                "PipelineAPI", "PipelineRecording", "PipelineInspector", "PipelineReplayTesting", "PipelineAllocations",
                logging, metrics, asyncHTTPClient, nio("NIOCore"),
            ],
            exclude: ["Replays"]
        ),
        tests("PipelineAPITests", ["PipelineAPI"]),
        // The folder Support of the tests of plugins is a link to Tests/PluginSupport.
        pluginTests("PipelinePluginsTests", ["PipelineAPI"]),
        pluginTests("PipelineResilienceTests"),
        pluginTests("PipelineCachingTests"),
        pluginTests("PipelineAuthTests", ["PipelineHashes"]),
        pluginTests("PipelineSigningTests"),
        pluginTests("PluginStackTests", ["PipelineAPI"]),
        tests(
            "PipelineTransportsTests",
            pluginModules + ["PipelineAPI", asyncHTTPClient, nio("NIOCore")]
        ),
        tests(
            "PipelineMoyaTests",
            ["PipelineMoya"],
            // No upcoming features: the samples are compiled like source that was written for Moya.
            settings: wholeModule
        ),
        tests(
            "AppIsolationTests",
            pluginModules + ["PipelineAPI"],
            settings: [.defaultIsolation(MainActor.self)] + wholeModule
        ),
        tests(
            "PipelineRecordingTests",
            pluginModules + [
                "PipelineHashes", "PipelineContentCoding", "PipelineRecording", "PipelineInspector",
                "PipelineReplayTesting", "har",
            ],
            exclude: ["HAR/Samples", "Testing/Replays"]
        ),
        tests("PipelineTestingTests", pluginModules + ["PipelineStoreTesting"]),
        tests("PipelineAllocationsTests", ["PipelineAllocations"]),
        // The targets of the package Fuzz, with their settings.
        tests(
            "FuzzCorpusTests",
            pluginModules + ["PipelineRecording", "PipelineRedaction"],
            settings: [
                .enableUpcomingFeature("ExistentialAny"), .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
            ] + wholeModule
        ),
    ],
    swiftLanguageModes: [.v6]
)
