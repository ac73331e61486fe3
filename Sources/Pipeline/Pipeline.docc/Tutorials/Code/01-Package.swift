// swift-tools-version: 6.2
import PackageDescription

let products = ["Pipeline"]
    .map { Target.Dependency.product(name: $0, package: "Pipeline") }

let package = Package(
    name: "Trains",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../Pipeline")],
    targets: [
        .executableTarget(name: "Trains", dependencies: products)
    ]
)
