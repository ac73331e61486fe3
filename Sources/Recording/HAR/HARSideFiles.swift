package import Foundation
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
        let content = entry.json["response"]?["content"]
        if mayBeLarge(content) {
            let headers = HAREntry.fields(entry.json["response"]?["headers"])
            let (body, isCoded) = try entry.responseBody(headers, nil)
            if body.count > threshold {
                entry.json["response"]?["content"] = try content?.holding(file: store(body))
                entry.json["response"]?["content"]?["_coded"] = isCoded ? .bool(true) : nil
            }
        }
        let data = entry.json["request"]?["postData"]
        if mayBeLarge(data) {
            let headers = HAREntry.fields(entry.json["request"]?["headers"])
            if let body = try entry.requestBody(headers, nil), body.count > threshold {
                entry.json["request"]?["postData"] = try data?.holding(file: store(body))
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

extension JSONNode {
    /// Returns the content or the post data with a body that is in a side file.
    fileprivate func holding(file: String) -> JSONNode {
        var node = self
        for name in ["text", "params", "encoding", "_encoding"] { node[name] = nil }
        node["_file"] = .string(file)
        return node
    }
}

extension HAREntry {
    /// The paths of the side files, relative to the folder of the recording.
    var sideFiles: [String] {
        [json["request"]?["postData"], json["response"]?["content"]].compactMap { $0?["_file"]?.string }
    }

    /// Returns the entry with its side files inlined, so that it can be changed or moved to another recording.
    ///
    /// - Parameter folder: the folder of the side files.
    /// - Returns: a copy; the same entry if it has no side files.
    /// - Throws: `.recording(.corrupt)` if a side file cannot be read.
    package func withoutSideFiles(in folder: URL?) throws -> HAREntry {
        guard !sideFiles.isEmpty else { return self }
        let exchange = try exchange(sideFiles: folder)
        var entry = self
        for (message, part, encoding, body) in [
            ("request", "postData", "_encoding", exchange.request.body),
            ("response", "content", "encoding", exchange.response?.body),
        ] where json[message]?[part]?["_file"] != nil {
            entry.json[message]?[part]?["_file"] = nil
            entry.json[message]?[part]?["text"] = .string((body ?? Data()).base64EncodedString())
            entry.json[message]?[part]?[encoding] = .string("base64")
        }
        return entry
    }
}
