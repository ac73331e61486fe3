import Foundation

/// A ``ByteServer`` in a separate process.
final class ServerProcess {
    struct DidNotStart: Error {}

    let url: URL
    private let process = Process()
    /// The standard input of the server, which ends when this pipe is closed.
    private let input = Pipe()

    init() throws {
        let output = Pipe()
        process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["serve"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)),
            let url = URL(string: "http://127.0.0.1:\(port)")
        else { throw DidNotStart() }
        self.url = url
    }

    func stop() {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }
}
