import CMemory
import Foundation
import Pipeline

/// Measures how far a body of 1 GiB raises the peak memory of the process, and how much memory a waiting call holds.
///
/// Ends with exit code 1 if a judged case raises the peak by more than 16 MiB, or if a call holds more than 8 KiB.
@main
struct Memory {
    static let allowedByteCount = 16 << 20
    /// The size of the first body.
    ///
    /// It loads what is loaded only once, which is not counted.
    static let smallByteCount = 1 << 20

    static func main() async throws {
        var arguments = CommandLine.arguments.dropFirst()
        switch arguments.first {
        case "serve": return try ByteServer.run()
        case "waiting":
            let isQuick = arguments.dropFirst().first == "--quick"
            guard try await Waiting.run(callCount: isQuick ? 1_000 : 10_000, rounds: isQuick ? 2 : 7) else { exit(1) }
            return
        default: break
        }
        #if Servers
        try await measureTransfers(arguments)
        #else
        print("usage: memory waiting [--quick]; bodies need the trait Servers")
        exit(2)
        #endif
    }

    #if Servers
    private static func measureTransfers(_ arguments: ArraySlice<String>) async throws {
        var arguments = arguments
        let isFoundation = arguments.first == "urlsession"
        if isFoundation { arguments.removeFirst() }
        var byteCount = 1 << 30
        var only = ""
        while let argument = arguments.popFirst() {
            let value = arguments.popFirst() ?? ""
            switch (argument, Int(value)) {
            case ("--size", let count?) where count > 1: byteCount = count << 20
            case ("--only", _) where !value.isEmpty: only = value
            default:
                print("usage: memory [urlsession] [--size MIB] [--only TEXT] | memory waiting [--quick]")
                exit(2)
            }
        }
        guard try await transfers(byteCount, only, isFoundation) else { exit(1) }
    }

    private static func transfers(_ byteCount: Int, _ only: String, _ isFoundation: Bool) async throws -> Bool {
        let files = try Files()
        defer { files.remove() }
        for count in [smallByteCount, byteCount] { try files.makeSource(count) }
        let server = try ServerProcess()
        defer { server.stop() }
        let transport = AsyncHTTPClientTransport()
        let cases: [Transfer]
        if isFoundation {
            let network = NetworkTransfer(transport: URLSessionTransport(), server: server.url, files: files)
            // On Linux, Foundation buffers data that arrives faster than it is read.
            cases = network.all("URLSession") { $0.contains("upload") || $0.contains("form") }
        } else {
            let network = NetworkTransfer(transport: transport, server: server.url, files: files)
            cases = Transfer.all(files) + network.all("AsyncHTTPClient") { _ in true }
        }
        var isWithin = true
        for item in cases where only.isEmpty || item.name.contains(only) {
            isWithin = try await measure(item, byteCount) && isWithin
        }
        try await transport.shutdown()
        if !isWithin { print("FAILED: a judged case raised the peak by more than \(allowedByteCount >> 10) KiB") }
        return isWithin
    }
    #endif

    private static func measure(_ item: Transfer, _ byteCount: Int) async throws -> Bool {
        try await item.run(smallByteCount)
        release_free_memory()
        try PeakMemory.reset()
        let before = try PeakMemory.current()
        let start = ContinuousClock.now
        var outcome = ""
        do {
            try await item.run(byteCount)
        } catch let error as PipelineError where !item.isJudged {
            outcome = "  \(error.code)"
        }
        let duration = ContinuousClock.now - start
        let rise = try PeakMemory.peak() - before
        let name = item.name.padding(toLength: 52, withPad: " ", startingAt: 0)
        let time = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        print(
            name + String(format: "%8d KiB %6.1f s", rise >> 10, time) + (item.isJudged ? "" : "  not judged") + outcome
        )
        // The table is read while the benchmark runs.
        fflush(nil)
        return !item.isJudged || rise <= allowedByteCount
    }
}
