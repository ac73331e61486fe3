// swift-tools-version: 6.2
import PackageDescription

let swiftSettings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

let pipelineCore = Target.Dependency.product(name: "PipelineCore", package: "Pipeline")
let pipelineTesting = Target.Dependency.product(name: "PipelineTesting", package: "Pipeline")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")

let package = Package(
    name: "Deprecations",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [.library(name: "Deprecations", targets: ["Deprecations"])],
    dependencies: [
        // In your copy, replace the path with that of your clone of Pipeline, or with its URL and version.
        .package(name: "Pipeline", path: "../.."),
        // Only for the tests. Add HTTPTypes to the first target if your plugin uses HTTPField.Name.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .target(name: "Deprecations", dependencies: [pipelineCore], swiftSettings: swiftSettings),
        .testTarget(
            name: "DeprecationsTests",
            dependencies: ["Deprecations", pipelineCore, pipelineTesting, httpTypes],
            swiftSettings: swiftSettings
        ),
    ]
)
