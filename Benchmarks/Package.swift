// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    // Without the trait, what needs no server builds without SwiftNIO; .ci/run runs that.
    traits: [.trait(name: "Servers"), .default(enabledTraits: ["Servers"])],
    dependencies: [
        .package(
            name: "Pipeline",
            path: "..",
            traits: [
                "Crypto", "SQLite",
                .trait(name: "AsyncHTTPClient", condition: .when(traits: ["Servers"])),
                .trait(name: "Redis", condition: .when(traits: ["Servers"])),
                .trait(name: "Telemetry", condition: .when(traits: ["Servers"])),
            ]
        ),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        .target(name: "CMemory"),
        .target(name: "CZlibDirect", linkerSettings: [.linkedLibrary("z")]),
        .executableTarget(
            name: "overhead",
            dependencies: [
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineTransports", package: "Pipeline"),
                .product(name: "PipelineSigning", package: "Pipeline"),
                .product(name: "PipelineResilience", package: "Pipeline"),
                .product(name: "PipelineAllocations", package: "Pipeline"),
                .product(name: "PipelineMoya", package: "Pipeline"),
                .product(name: "PipelineTesting", package: "Pipeline"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "gzip",
            dependencies: [
                "CZlibDirect",
                .product(name: "Pipeline", package: "Pipeline"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "memory",
            dependencies: [
                "CMemory",
                "CZlibDirect",
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineCaching", package: "Pipeline"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "transports",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["Servers"])),
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineAllocations", package: "Pipeline"),
                .product(name: "PipelineCaching", package: "Pipeline"),
                .product(name: "PipelineResilience", package: "Pipeline"),
                .product(name: "PipelineTelemetry", package: "Pipeline"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "timings",
            dependencies: [
                .product(name: "Pipeline", package: "Pipeline")
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "recording",
            dependencies: [
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineRecording", package: "Pipeline"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "cache",
            dependencies: [
                "CMemory",
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineCaching", package: "Pipeline"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "simulations",
            dependencies: [
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineResilience", package: "Pipeline"),
                .product(name: "PipelineTesting", package: "Pipeline"),
            ],
            swiftSettings: swiftSettings
        ),
        .executableTarget(
            name: "soak",
            dependencies: [
                "CZlibDirect",
                .product(name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["Servers"])),
                .product(name: "Pipeline", package: "Pipeline"),
                .product(name: "PipelineResilience", package: "Pipeline"),
            ],
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)
