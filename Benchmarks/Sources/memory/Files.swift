import Foundation
import Pipeline

/// The files of a run, in a temporary folder that is removed with them.
struct Files: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "memory-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    func remove() { try? FileManager.default.removeItem(at: folder) }

    /// The file of zeros that ``makeSource(_:)`` creates.
    func source(_ byteCount: Int) -> URL { folder.appending(path: "source-\(byteCount)") }

    /// The destination of downloads.
    var destination: URL { folder.appending(path: "received") }

    func makeSource(_ byteCount: Int) throws {
        let url = source(byteCount)
        _ = FileManager.default.createFile(atPath: url.path, contents: nil)
        let handle = try FileHandle(forWritingTo: url)
        try handle.truncate(atOffset: UInt64(byteCount))
        try handle.close()
    }

    /// Returns a form that has the source file as a part.
    func form(_ byteCount: Int) -> MultipartFormData {
        [
            MultipartFormBodyPart(.bytes(Data("a caption".utf8)), name: "caption"),
            MultipartFormBodyPart(.file(source(byteCount)), name: "video", fileName: "video.mp4"),
        ]
    }

    static func size(of url: URL) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
        return (attributes[.size] as? NSNumber)?.intValue ?? 0
    }
}
