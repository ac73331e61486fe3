package import Foundation
import PipelineCore

/// A HAR file: the positions of its entries, and the changes to them.
///
/// Entries are read on demand and written unchanged unless they have been replaced. The file is kept open, so it may be
/// replaced on disk in the meantime. Memory holds 16 bytes for each entry in the file, all new entries, and the rest of
/// the file.
package struct HARFile: Sendable {
    /// The largest entry that is read, and the largest text around the entries, in bytes.
    static let maximumByteCount = 256 << 20

    private enum Slot {
        case source(Int)
        case entry(HAREntry)
    }

    private struct Source {
        let file: HARSource
        let ranges: [Range<Int>]
    }

    /// The file that was read; `nil` for a new one.
    let url: URL?
    /// The whole file without the entries.
    private var root: JSONNode
    private let source: Source?
    private var slots: [Slot]
    private var isChanged = false

    /// Creates a file without entries, with this package as its creator.
    init() {
        url = nil
        source = nil
        slots = []
        root = .object(["log": Self.ownLog])
    }

    /// Reads the positions of the entries.
    ///
    /// - Throws: `.recording(.missingFile)`; `.recording(.corrupt)` with a ``HARFailure`` in it if the file is not
    ///   JSON, has no list of entries, or has a version other than 1.
    package init(contentsOf url: URL) throws {
        let file = try HARSource(url)
        var scanner = HARScanner()
        do {
            try file.forEachWindow(in: 0..<file.byteCount) { try scanner.scan($0, at: $1) }
            try scanner.finish(at: file.byteCount)
            root = try Self.root(in: file, scanner)
        } catch let failure as HARFailure {
            throw try Self.explained(failure, file).error(in: url)
        }
        self.url = url
        source = Source(file: file, ranges: scanner.entries)
        slots = scanner.entries.indices.map { .source($0) }
    }

    /// Explains a failure that is caused by a JavaScript wrapper, as in JSONP.
    private static func explained(_ failure: HARFailure, _ file: HARSource) throws -> HARFailure {
        let beginning = String(decoding: try file.read(0..<min(file.byteCount, 256)), as: UTF8.self)
        guard let call = beginning.prefixMatch(of: /[\s\u{FEFF};]*(?:\/\*.*?\*\/)?\s*([A-Za-z_$][\w$.]*)\s*\(/) else {
            return failure
        }
        return HARFailure(
            offset: failure.offset,
            index: nil,
            reason:
                "this is JSONP, a call of the JavaScript function \(call.1); remove all that is outside of its parentheses"
        )
    }

    /// Returns the content of a file without the entries.
    private static func root(in file: HARSource, _ scanner: HARScanner) throws -> JSONNode {
        let end = scanner.end ?? file.byteCount
        let cut = (scanner.entries.first?.lowerBound ?? end)..<(scanner.entries.last?.upperBound ?? end)
        guard file.byteCount - cut.count <= maximumByteCount else {
            throw HARFailure(offset: cut.upperBound, index: nil, reason: "the text around the entries is too large")
        }
        var text = try file.read(0..<cut.lowerBound)
        let byteOrderMark = text.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        text.removeFirst(byteOrderMark)
        text += try file.read(cut.upperBound..<file.byteCount)
        do {
            let root = try JSONParser.parse(text)
            guard scanner.end != nil, root["log"]?["entries"] == .array([]) else {
                throw HARFailure(offset: file.byteCount, index: nil, reason: "the file has no log with entries")
            }
            if let version = root["log"]?["version"]?.string, version.prefix(2) != "1." {
                throw HARFailure(offset: 0, index: nil, reason: "version \(version.prefix(16).debugDescription)")
            }
            return root
        } catch let failure as JSONParser.Failure {
            let offset = byteOrderMark + failure.offset
            throw HARFailure(
                offset: offset + (offset < cut.lowerBound ? 0 : cut.count),
                index: nil,
                reason: failure.reason
            )
        }
    }
}

// MARK: - Entries

extension HARFile {
    package var count: Int { slots.count }

    /// The text around the entries, as the object `log` without entries.
    package var log: JSONNode { root["log"] ?? .null }

    /// Replaces the text around the entries.
    ///
    /// Entries in the new object are ignored.
    mutating func replaceLog(with log: JSONNode) {
        guard log != self.log else { return }
        root["log"] = log
        isChanged = true
    }

    /// The largest seed, which JavaScript reads without rounding.
    static let maximumRandomSeed: UInt64 = (1 << 53) - 1

    /// The seed of the random numbers of the recorded session; `nil` if it is not known.
    var randomSeed: UInt64? {
        get { log["_pipeline"]?["randomSeed"]?.int.flatMap { UInt64(exactly: $0) } }
        set {
            var log = log
            log["_pipeline"] = newValue.map { .object(["randomSeed": .number(String($0))]) }
            replaceLog(with: log)
        }
    }

    /// - Throws: `.recording(.corrupt)` with a ``HARFailure`` in it, whose offset is a position in the file.
    package func entry(at index: Int) throws -> HAREntry {
        switch slots[index] {
        case .entry(let entry): return entry
        case .source(let number):
            guard let source else { throw PipelineError.corrupt("an entry of no file") }
            let range = source.ranges[number]
            guard range.count <= Self.maximumByteCount else {
                let reason = "more than \(Self.maximumByteCount) bytes"
                throw HARFailure(offset: range.lowerBound, index: index, reason: reason).error(in: url)
            }
            do {
                return HAREntry(json: try JSONParser.parse(try source.file.read(range)))
            } catch let failure as JSONParser.Failure {
                let offset = range.lowerBound + failure.offset
                throw HARFailure(offset: offset, index: index, reason: failure.reason).error(in: url)
            }
        }
    }

    /// Returns an entry as an exchange, with side files read from the folder of the file.
    ///
    /// - Throws: `.recording(.corrupt)` with a ``HARFailure`` in it that names the entry.
    func exchange(at index: Int) throws -> RecordedExchange {
        let entry = try entry(at: index)
        do {
            return try entry.exchange(sideFiles: url?.resolvingSymlinksInPath().deletingLastPathComponent())
        } catch let error as PipelineError {
            throw HARFailure(offset: offset(at: index), index: index, reason: error.reason).error(in: url)
        }
    }

    /// Returns an exchange that can be replayed.
    ///
    /// - Throws: `.recording(.corrupt)` also if the file lacks the body of the response.
    func replayableExchange(at index: Int) throws -> RecordedExchange {
        if let size = try entry(at: index).missingByteCount {
            let reason = "response.content has \(size) bytes but no text; save the recording with its content"
            throw HARFailure(offset: offset(at: index), index: index, reason: reason).error(in: url)
        }
        return try exchange(at: index)
    }

    private func offset(at index: Int) -> Int {
        guard case .source(let number) = slots[index] else { return 0 }
        return source?.ranges[number].lowerBound ?? 0
    }

    mutating func append(_ entry: HAREntry) {
        slots.append(.entry(entry))
        isChanged = true
    }

    mutating func replace(at index: Int, with entry: HAREntry) {
        slots[index] = .entry(entry)
        isChanged = true
    }

    mutating func remove(at index: Int) {
        slots.remove(at: index)
        isChanged = true
    }
}

// MARK: - Writing

extension HARFile {
    private static let ownLog = JSONNode.object([
        "version": .string("1.2"),
        "creator": .object(["name": .string("Pipeline"), "version": .string("1")]),
        "entries": .array([]),
    ])

    /// Writes the whole file atomically, with mode 0600.
    ///
    /// If this throws, an existing file stays unchanged.
    ///
    /// A file without changes is copied as a whole. In a changed file, unchanged entries are copied byte by byte.
    ///
    /// - Throws: `.recording(.notWritten)`; `.recording(.corrupt)` if the source file has been truncated in the
    ///   meantime.
    func write(to url: URL) throws {
        try HARWriter.replace(url) { writer in
            if let source, !isChanged { return try copy(0..<source.file.byteCount, to: writer) }
            let (start, end) = frame
            try writer.append(start)
            for (index, slot) in slots.enumerated() {
                try writer.append(Data((index > 0 ? ",\n      " : "\n      ").utf8))
                switch slot {
                case .source(let number): try source.map { try copy($0.ranges[number], to: writer) }
                case .entry(let entry): try writer.append(entry.json.data(indentation: 3))
                }
            }
            if !slots.isEmpty { try writer.append(Data("\n    ".utf8)) }
            try writer.append(end)
        }
    }

    /// The text before and after the entries.
    private var frame: (start: Data, end: Data) {
        var root = root
        let place = JSONNode.string("entries-\(UUID())")
        root["log"]?["entries"] = place
        let text = root.data(indentation: 0)
        let range = text.firstRange(of: place.data()) ?? text.endIndex..<text.endIndex
        return (
            text[..<range.lowerBound] + Data("[".utf8), Data("]".utf8) + text[range.upperBound...] + Data("\n".utf8)
        )
    }

    private func copy(_ range: Range<Int>, to writer: HARWriter) throws {
        try source?.file.forEachWindow(in: range) { window, _ in try writer.append(window) }
    }
}

// MARK: - Errors

/// An error in a HAR file and its position.
struct HARFailure: Error, Equatable {
    /// The position of the first byte that cannot be read, from 0; the start of the entry if its content is invalid.
    let offset: Int
    /// The index of the entry, from 0; `nil` outside of the entries.
    let index: Int?
    let reason: String

    func error(in url: URL?) -> PipelineError {
        let name = url.map { "the file \($0.lastPathComponent.debugDescription)" } ?? "the recording"
        let entry = index.map { " in entry \($0)" } ?? ""
        return .corrupt("\(name) is wrong at byte \(offset)\(entry): \(reason)", underlyingError: self)
    }
}
