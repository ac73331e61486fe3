import Foundation
import TestSupport
import Testing

/// The executable built beside the tests or in a folder above them.
enum HarCommand {
    /// Runs the command in a folder and returns its exit code, its standard output and its standard error.
    static func run(
        _ arguments: [String],
        in folder: URL,
        environment: [String: String] = [:]
    ) async throws -> (status: Int32, text: String, errors: String) {
        var place = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        while !FileManager.default.isExecutableFile(atPath: place.appending(path: "har").path), place.path.count > 1 {
            place.deleteLastPathComponent()
        }
        let process = Process()
        let (output, errors) = (Pipe(), Pipe())
        process.executableURL = place.appending(path: "har")
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = environment
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        let (events, ended) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { ended.yield($0.terminationStatus) }
        try process.run(within: 120)
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        let status = await events.first { _ in true }
        let errorData = try errors.fileHandleForReading.readToEnd() ?? Data()
        return (try #require(status), String(decoding: data, as: UTF8.self), String(decoding: errorData, as: UTF8.self))
    }
}
