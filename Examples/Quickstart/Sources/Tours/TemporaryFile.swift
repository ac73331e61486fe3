import Foundation

/// A file in a temporary folder of its own.
struct TemporaryFile {
    let url: URL

    init(_ name: String, _ content: Data) throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "quickstart-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appending(path: name)
        try content.write(to: url)
    }

    /// Removes the file and its folder.
    func remove() {
        try? FileManager.default.removeItem(at: url.deletingLastPathComponent())
    }
}
