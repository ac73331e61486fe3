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
            let example = try JSONDecoder().decode(Case.self, from: Data(line.utf8))
            try write(await example.run(with: open(example)))
        }
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
