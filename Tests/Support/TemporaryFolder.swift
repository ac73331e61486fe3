package import Foundation

/// A folder that is removed with the test.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "pipeline-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package func file(_ name: String) -> URL { url.appending(path: name, directoryHint: .notDirectory) }

    /// The names of its contents, including hidden files.
    package var names: [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted()
    }

    package func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: file(name))
    }

    package func text(of name: String) -> String? {
        (try? Data(contentsOf: file(name))).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The permissions of a file.
    package func mode(of name: String) throws -> Int? {
        let attributes = try FileManager.default.attributesOfItem(atPath: file(name).path)
        return (attributes[.posixPermissions] as? NSNumber)?.intValue
    }

    /// Creates a file and returns its URL.
    package func file(_ name: String, _ data: Data) throws -> URL {
        try data.write(to: file(name))
        return file(name)
    }

    package func file(_ name: String, byteCount: Int) throws -> URL {
        try file(name, Data((0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 31) }))
    }

    /// Extends a file with zeros or truncates it.
    package static func resize(_ file: URL, to byteCount: Int) throws {
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(byteCount))
        try handle.close()
    }
}
