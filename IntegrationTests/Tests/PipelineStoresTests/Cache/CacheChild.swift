import Foundation
import TestSupport
import Testing

/// A process of the executable `cachewriter`, which is beside the tests or in a folder above them.
final class CacheChild: Sendable {
    private let process: Process
    private let reading: FileHandle
    private let ended: AsyncStream<Void>

    init(_ command: String, _ folder: URL) throws {
        var place = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        while !FileManager.default.isExecutableFile(atPath: place.appending(path: "cachewriter").path),
            place.path.count > 1
        { place.deleteLastPathComponent() }
        let pipe = Pipe()
        let (stream, continuation) = AsyncStream<Void>.makeStream()
        process = Process()
        reading = pipe.fileHandleForReading
        ended = stream
        process.executableURL = place.appending(path: "cachewriter")
        process.arguments = [command, folder.path]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.terminationHandler = { _ in continuation.finish() }
        try process.run(within: 120)
    }

    /// Returns what the process prints until it ends.
    func output() async throws -> String {
        let data = try reading.readToEnd() ?? Data()
        for await _ in ended {}
        return String(decoding: data, as: UTF8.self)
    }

    /// Kills the process when it has printed a number of bytes; returns the text if it ended before.
    func kill(afterByteCount byteCount: Int) async throws -> String? {
        var text = Data()
        while text.count < byteCount, let next = try reading.read(upToCount: byteCount - text.count), !next.isEmpty {
            text += next
        }
        let hasEnded = text.count < byteCount
        if !hasEnded { _ = Foundation.kill(process.processIdentifier, SIGKILL) }
        for await _ in ended {}
        return hasEnded ? String(decoding: text, as: UTF8.self) : nil
    }
}
