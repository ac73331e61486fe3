// swift-tools-version: 6.2
import PackageDescription

// Built by `./run`, which enables the fuzzer for all modules. Unsafe flags are allowed because no package depends on
// this one.
let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    // Without it, the targets are plain functions, which Tests/FuzzCorpusTests runs.
    .define("FUZZER"),
    .unsafeFlags(["-parse-as-library"]),
]

let dependencies: [Target.Dependency] = [
    "CFuzzer",
    "FuzzSupport",
    .product(name: "Pipeline", package: "Pipeline"),
    .product(name: "PipelineAuth", package: "Pipeline"),
    .product(name: "PipelineTesting", package: "Pipeline"),
    .product(name: "HTTPTypes", package: "swift-http-types"),
]

let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "Pipeline", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(name: "CFuzzer"),
        .target(name: "FuzzSupport"),
        .executableTarget(name: "challenges", dependencies: dependencies, swiftSettings: swiftSettings),
        .executableTarget(
            name: "gzip",
            dependencies: dependencies,
            swiftSettings: swiftSettings
        ),
        .executableTarget(name: "events", dependencies: dependencies, swiftSettings: swiftSettings),
        .executableTarget(
            name: "harfile",
            dependencies: dependencies + [.product(name: "PipelineRecording", package: "Pipeline")],
            swiftSettings: swiftSettings
        ),
        .executableTarget(name: "multipart", dependencies: dependencies, swiftSettings: swiftSettings),
        .executableTarget(name: "retryafter", dependencies: dependencies, swiftSettings: swiftSettings),
        .executableTarget(name: "urlform", dependencies: dependencies, swiftSettings: swiftSettings),
    ],
    swiftLanguageModes: [.v6]
)
