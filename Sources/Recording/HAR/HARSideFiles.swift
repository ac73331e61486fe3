import Foundation
import PipelineCore
import PipelineHashes

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// The files beside a HAR file that hold its large bodies: `<name>-files/<SHA-256 of the body>`.
struct HARSideFiles: Sendable {
    /// The largest body that is read, in bytes.
    static let maximumByteCount = 1 << 30

    private let har: URL
    private let threshold: Int

    /// - Parameters:
    ///   - har: the HAR file.
    ///   - threshold: the size of the largest body that stays in the HAR file, in bytes.
    init(for har: URL, threshold: Int = 1 << 20) {
        self.har = har.resolvingSymlinksInPath()
        self.threshold = threshold
    }

    /// Returns the entry with its large bodies moved to side files, which are written before this returns.
    ///
    /// - Throws: `.recording(.notWritten)`; `.recording(.corrupt)` if a body cannot be read from the entry.
    func moveBodies(of entry: HAREntry) throws -> HAREntry {
        var entry = entry
        if mayBeLarge(entry.json["response"]?["content"]) {
            let headers = HAREntry.fields(entry.json["response"]?["headers"])
            let (body, isCoded) = try entry.responseBody(headers, nil)
            if body.count > threshold {
                let name = try store(body)
                entry.json["response"]?["content"]?["text"] = nil
                entry.json["response"]?["content"]?["encoding"] = nil
                entry.json["response"]?["content"]?["_coded"] = isCoded ? .bool(true) : nil
                entry.json["response"]?["content"]?["_file"] = .string(name)
            }
        }
        if mayBeLarge(entry.json["request"]?["postData"]) {
            let headers = HAREntry.fields(entry.json["request"]?["headers"])
            if let body = try entry.requestBody(headers, nil), body.count > threshold {
                let name = try store(body)
                for part in ["text", "params", "encoding", "_encoding"] {
                    entry.json["request"]?["postData"]?[part] = nil
                }
                entry.json["request"]?["postData"]?["_file"] = .string(name)
            }
        }
        return entry
    }

    /// In UTF-16, a body is up to twice as long as its text.
    private func mayBeLarge(_ node: JSONNode?) -> Bool {
        guard let node, node["_file"] == nil, let text = node["text"]?.string else { return false }
        return text.utf8.count > threshold / 2
    }

    /// - Returns: the path relative to the folder of the HAR file.
    private func store(_ body: Data) throws -> String {
        let digest = SHA256.hash([UInt8](body)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let folder = Self.folderName(for: har)
        let directory = har.deletingLastPathComponent().appending(path: folder, directoryHint: .isDirectory)
        guard mkdir(directory.path, 0o700) == 0 || errno == EEXIST else {
            throw PipelineError.notWritten(directory, errno: errno)
        }
        // Links are refused when side files are read.
        var status = stat()
        guard lstat(directory.path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw PipelineError(
                .recording(.notWritten),
                "\(folder.quotedExcerpt), the folder of large bodies, is a link or no folder; remove it"
            )
        }
        try HARWriter.replace(directory.appending(path: digest, directoryHint: .notDirectory)) { try $0.append(body) }
        return folder + "/" + digest
    }

    private static func folderName(for har: URL) -> String { har.deletingPathExtension().lastPathComponent + "-files" }

    /// Returns whether a path has the form that this type gives to bodies of the HAR file.
    static func isOwn(_ path: String, of har: URL) -> Bool {
        let folder = folderName(for: har) + "/"
        let digest = path.utf8.dropFirst(folder.utf8.count)
        return path.hasPrefix(folder) && digest.count == 64
            && digest.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    // MARK: Reading

    /// Reads a file whose path is relative to the folder of the HAR file.
    ///
    /// Links are refused wherever they lead.
    static func contents(of path: String, in directory: URL?) throws -> Data {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        guard let directory, !path.utf8.contains(0), parts.allSatisfy({ !["", ".", ".."].contains($0) }) else {
            throw PipelineError.corrupt("a side file with a path that may not be read")
        }
        var place = open(directory.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        for (index, part) in parts.enumerated() where place >= 0 {
            let parent = place
            let flags = index < parts.count - 1 ? O_DIRECTORY : O_NONBLOCK
            place = openat(parent, String(part), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)
            let failure = errno
            _ = close(parent)
            errno = failure
        }
        guard place >= 0 else { throw PipelineError.corrupt("a side file that cannot be opened, errno \(errno)") }
        let source = try HARSource(descriptor: place)
        guard source.byteCount <= maximumByteCount else {
            throw PipelineError.corrupt("a side file of more than \(maximumByteCount) bytes")
        }
        return try source.read(0..<source.byteCount)
    }
}
