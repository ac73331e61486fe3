import Foundation
import PackagePlugin

/// Runs the command `har` for a package: `swift package har validate FILE`.
@main
struct HARCommand: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let process = Process()
        process.executableURL = try context.tool(named: "har").url
        process.arguments = arguments
        try process.run()
        process.waitUntilExit()
        // The tool has printed what is wrong; an error thrown here would be printed as well.
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }
}
