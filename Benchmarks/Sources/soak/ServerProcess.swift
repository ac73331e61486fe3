import Foundation

/// The server in a separate process, so that only the client's descriptors and memory are measured.
final class ServerProcess {
    struct NotStarted: Error {}

    let url: URL
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()

    init(seed: UInt64) throws {
        process.executableURL = Bundle.main.executableURL
        process.arguments = ["serve", "--seed", "\(seed)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard let port = Self.readNumber(output), let url = URL(string: "http://127.0.0.1:\(port)") else {
            throw NotStarted()
        }
        self.url = url
    }

    /// Returns the number of open connections.
    func openConnectionCount() -> Int? {
        guard (try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))) != nil else { return nil }
        return Self.readNumber(output)
    }

    /// Ends the server and returns whether it exited normally.
    func stop() -> Bool {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }

    /// Reads a line, which the server writes immediately.
    private static func readNumber(_ output: Pipe) -> Int? {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1), let first = byte.first {
            if first == UInt8(ascii: "\n") { return Int(String(decoding: line, as: UTF8.self)) }
            line.append(first)
        }
        return nil
    }
}
