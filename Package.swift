// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let openCombine = Target.Dependency.product(
    name: "OpenCombine",
    package: "OpenCombine",
    condition: .when(traits: ["OpenCombine"])
)
let flyingFox = Target.Dependency.product(name: "FlyingFox", package: "FlyingFox")
let flyingSocks = Target.Dependency.product(name: "FlyingSocks", package: "FlyingFox")

let package = Package(
    name: "Pipeline",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Pipeline", targets: ["Pipeline"]),
        .library(name: "PipelinePlugins", targets: ["PipelinePlugins"]),
        .library(name: "PipelineTransports", targets: ["PipelineTransports"]),
        .library(name: "PipelineCombine", targets: ["PipelineCombine"]),
        .library(name: "PipelineTesting", targets: ["PipelineTesting"]),
        .executable(name: "quickstart", targets: ["quickstart"]),
    ],
    traits: [
        .trait(name: "OpenCombine", description: "PipelineCombine on platforms without Combine, with OpenCombine")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .target(name: "Pipeline", dependencies: [httpTypes], swiftSettings: swiftSettings),
        .target(
            name: "PipelinePlugins",
            dependencies: ["Pipeline", httpTypes, logging],
            path: "Sources/Plugins",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelineTransports",
            dependencies: ["Pipeline", httpTypes],
            path: "Sources/Transports",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelineTesting",
            dependencies: ["Pipeline", httpTypes],
            path: "Sources/Testing",
            swiftSettings: swiftSettings
        ),
        .target(
            name: "PipelineCombine",
            dependencies: ["Pipeline", openCombine],
            path: "Sources/Combine",
            swiftSettings: swiftSettings
        ),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .executableTarget(
            name: "quickstart",
            dependencies: [
                "Pipeline", "PipelinePlugins", "PipelineTransports", httpTypes, flyingFox, flyingSocks,
            ],
            path: "Examples/Quickstart",
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "PipelineTests",
            dependencies: ["Pipeline", "PipelineTesting", "PipelineTransports", "PipelinePlugins", httpTypes],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "PipelinePluginsTests",
            dependencies: [
                "Pipeline", "PipelinePlugins", "PipelineTesting", "PipelineTransports", httpTypes, logging,
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "PipelineTransportsTests",
            dependencies: [
                "Pipeline", "PipelineTransports", "PipelineTesting", "CZlib", httpTypes, flyingFox,
            ],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "PipelineCombineTests",
            dependencies: ["Pipeline", "PipelineCombine", "PipelineTesting", httpTypes, openCombine],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "AppIsolationTests",
            dependencies: ["Pipeline", "PipelinePlugins", "PipelineTesting", httpTypes],
            swiftSettings: [.defaultIsolation(MainActor.self)]
        ),
        .testTarget(
            name: "PipelineTestingTests",
            dependencies: ["Pipeline", "PipelineTesting", httpTypes],
            swiftSettings: swiftSettings
        ),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "Pipeline", "PipelinePlugins", "PipelineTransports", "PipelineTesting", httpTypes,
            ],
            exclude: ["httpbin"],
            swiftSettings: swiftSettings
        ),
    ],
    swiftLanguageModes: [.v6]
)
