import Foundation

/// The loop over the cases, which all drivers in Swift share.
package struct Driver: Sendable {
    let version: @Sendable () -> String
    let features: [String]
    let open: @Sendable (Case) throws -> any Client

    /// Makes the loop.
    ///
    /// - Parameters:
    ///   - version: the name and the version of the client.
    ///   - features: what the client has.
    ///   - open: makes the client of a case.
    package init(
        version: @autoclosure @escaping @Sendable () -> String,
        features: [String],
        open: @escaping @Sendable (Case) throws -> any Client
    ) {
        self.version = version
        self.features = features
        self.open = open
    }

    /// Reads cases from standard input and writes their results; with `--describe`, writes the features.
    package func run() async throws {
        if CommandLine.arguments.contains("--describe") {
            return try write(Description(version: version(), features: features))
        }
        while let line = readLine() {
            try write(Line(results: await results(of: JSONDecoder().decode(Case.self, from: Data(line.utf8)))))
        }
    }

    private func results(of example: Case) async throws -> [Result] {
        let client = try open(example)
        if example.steps.isEmpty {
            // Loads what a first call needs; nothing listens on port 1.
            _ = await Self.perform(Call(url: "http://127.0.0.1:1/"), client)
        }
        var results: [Result] = []
        for step in example.steps {
            try await Task.sleep(for: .milliseconds(step.compactMap(\.wait).max() ?? 0))
            results += await withTaskGroup { group in
                for (index, call) in step.enumerated() { group.addTask { (index, await Self.perform(call, client)) } }
                return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
            }
        }
        await client.close()
        return results
    }

    private static func perform(_ call: Call, _ client: any Client) async -> Result {
        let begin = ContinuousClock.now
        let task = Task { try await client.perform(call) }
        if let cancel = call.cancel {
            Task {
                try await Task.sleep(for: .milliseconds(cancel))
                task.cancel()
            }
        }
        let outcome = await task.result
        return Result(outcome, milliseconds: Int((ContinuousClock.now - begin) / .milliseconds(1)))
    }

    private func write(_ value: some Encodable) throws {
        try FileHandle.standardOutput.write(contentsOf: JSONEncoder().encode(value) + Data("\n".utf8))
    }
}

extension Driver {
    /// The version of Swift on this machine, with which Foundation comes.
    package static var swiftVersion: String {
        let words = output(of: "sh", "-c", "swift --version 2> /dev/null").split(separator: " ")
        return words.firstIndex(of: "version").map { String(words[$0 + 1]) } ?? "an unknown version"
    }

    /// Returns the version of a package, as resolved.
    package static func version(of package: String) -> String {
        let file = (try? Data(contentsOf: URL(filePath: "swift/Package.resolved"))) ?? Data()
        let pins = (try? JSONDecoder().decode(Pins.self, from: file))?.pins ?? []
        return pins.first { $0.identity == package }?.state.version ?? "of an unknown version"
    }

    /// The output of a command, without line breaks at its end.
    package static func output(of command: String...) -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        guard (try? process.run()) != nil else { return "" }
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}

private struct Pins: Decodable {
    struct Pin: Decodable {
        struct State: Decodable { var version: String? }
        var identity: String
        var state: State
    }
    var pins: [Pin]
}

private struct Description: Encodable {
    var version: String
    var features: [String]
}

private struct Line: Encodable {
    var results: [Result]
}
