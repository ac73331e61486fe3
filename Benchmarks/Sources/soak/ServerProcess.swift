import Foundation

/// The server in a process of its own, so that descriptors and memory are the client's alone.
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

    /// How many connections are open.
    func openConnectionCount() -> Int? {
        guard (try? input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))) != nil else { return nil }
        return Self.readNumber(output)
    }

    /// Ends the server; gives back whether it ended well.
    func stop() -> Bool {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
        return process.terminationReason == .exit && process.terminationStatus == 0
    }

    /// A line, which the server writes at once.
    private static func readNumber(_ output: Pipe) -> Int? {
        var line = Data()
        while let byte = try? output.fileHandleForReading.read(upToCount: 1), let first = byte.first {
            if first == UInt8(ascii: "\n") { return Int(String(decoding: line, as: UTF8.self)) }
            line.append(first)
        }
        return nil
    }
}
