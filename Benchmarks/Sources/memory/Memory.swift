import Foundation
import HTTPTypes
import Pipeline

/// Measures how far a body of 1 GiB raises the peak of the process's memory, on a transport that streams.
///
/// Ends with exit code 1 when one rises it by more than 16 MiB.
@main
struct Memory {
    static let byteCount = 1 << 30
    static let allowedByteCount = 16 << 20

    static func main() async throws {
        guard CommandLine.arguments.count == 1 else {
            print("usage: memory")
            exit(2)
        }
        let folder = FileManager.default.temporaryDirectory.appending(path: "memory-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "source")
        _ = FileManager.default.createFile(atPath: source.path, contents: nil)
        let handle = try FileHandle(forWritingTo: source)
        try handle.truncate(atOffset: UInt64(byteCount))
        try handle.close()

        let cases = Transfer.all(source, folder)
        // Once around, so that what is loaded once is not counted.
        for item in cases { try await item.run(1 << 20) }
        var isWithin = true
        for item in cases {
            try PeakMemory.reset()
            let before = try PeakMemory.current()
            try await item.run(byteCount)
            let rise = try PeakMemory.peak() - before
            isWithin = isWithin && rise <= allowedByteCount
            print(item.name + String(repeating: " ", count: max(1, 44 - item.name.count)) + "\(rise >> 10) KiB")
        }
        if !isWithin {
            print("more than \(allowedByteCount >> 10) KiB")
            exit(1)
        }
    }
}
