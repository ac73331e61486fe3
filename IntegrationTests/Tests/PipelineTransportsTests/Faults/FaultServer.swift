#if os(macOS) || os(Linux)
import Driving
import Foundation
import TestSupport

/// The server of the comparison of clients, with the cases of some kinds.
///
/// `@unchecked Sendable`: nothing changes after it has started.
final class FaultServer: @unchecked Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static let isAvailable = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
        FileManager.default.isExecutableFile(atPath: "\($0)/python3")
    }

    private static let scripts = (1...5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        .appending(path: "Comparisons/Faults")

    private let folder: TemporaryFolder
    private let process: Process
    private let input = Pipe()
    let cases: [Case]

    /// Starts the server and waits until it accepts connections.
    init(_ kinds: [String]) throws {
        folder = try TemporaryFolder()
        let output = Pipe()
        process = Self.python(["Server/server.py", folder.url.path] + kinds, output)
        process.standardInput = input
        try process.run(within: 280)
        guard try output.fileHandleForReading.read(upToCount: 6) == Data("ready\n".utf8) else {
            throw Failure(description: "The server of the plan has not started.")
        }
        cases = try JSONDecoder().decode([Case].self, from: Data(contentsOf: folder.file("calls.json")))
    }

    deinit { try? input.fileHandleForWriting.close() }

    /// Returns the cases that went wrong, each with its reason.
    func judge(_ lines: [Line]) throws -> String {
        let encoder = JSONEncoder()
        let text = try lines.map { String(decoding: try encoder.encode($0), as: UTF8.self) }.joined(separator: "\n")
        try folder.write(text, to: "results.jsonl")
        let output = Pipe()
        let judge = Self.python(["judge.py", folder.url.path, folder.file("results.jsonl").path], output)
        try judge.run(within: 120)
        let printed = try output.fileHandleForReading.readToEnd() ?? Data()
        judge.waitUntilExit()
        guard judge.terminationStatus == 0 else { throw Failure(description: "The results cannot be judged.") }
        return String(decoding: printed, as: UTF8.self)
    }

    private static func python(_ arguments: [String], _ output: Pipe) -> Process {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", "-B"] + arguments
        process.currentDirectoryURL = scripts
        process.standardOutput = output
        return process
    }
}
#endif
