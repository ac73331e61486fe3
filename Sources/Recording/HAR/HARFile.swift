package import Foundation
import PipelineCore

/// A HAR file: the positions of its entries, and the changes to them.
///
/// Entries are read on demand and written unchanged unless they have been replaced. The file is kept open, so it may be
/// replaced on disk in the meantime. Memory holds 16 bytes for each entry in the file, all new entries, and the text
/// around the entries.
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
        /// The start of the first entry, and the end of the last one.
        let prefixEnd: Int
        let suffixStart: Int
    }

    /// The file that was read; `nil` for a new one.
    let url: URL?
    /// The whole file without the entries in `log`.
    private var root: JSONNode
    private var isRootChanged = false
    private let source: Source?
    private let layout: HARLayout
    private var slots: [Slot]
    private var isChanged = false

    /// Creates a file without entries, with this package as its creator.
    init() {
        url = nil
        source = nil
        layout = .standard
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
        } catch let failure as HARFailure {
            throw try Self.explained(failure, file).error(in: url)
        }
        let end = scanner.brackets?.end ?? 0
        let source = Source(
            file: file,
            ranges: scanner.entries,
            prefixEnd: scanner.entries.first?.lowerBound ?? end,
            suffixStart: scanner.entries.last?.upperBound ?? end
        )
        self.url = url
        self.source = source
        slots = source.ranges.indices.map { .source($0) }
        root = try Self.root(in: source, url)
        let start = try Self.start(of: source)
        layout = HARLayout(
            before: try file.read(max(start - 4096, 0)..<start),
            gap: try source.ranges.count < 2
                ? nil : file.read(source.ranges[0].upperBound..<source.ranges[1].lowerBound),
            isEmpty: source.ranges.isEmpty
        )
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

    /// Returns the start of the first entry.
    ///
    /// Without entries, returns the position after the bracket, skipping its blanks.
    private static func start(of source: Source) throws -> Int {
        guard source.ranges.isEmpty else { return source.prefixEnd }
        let before = try source.file.read(max(source.prefixEnd - 4096, 0)..<source.prefixEnd)
        return source.prefixEnd - before.reversed().prefix { $0 <= 0x20 }.count
    }

    private static func root(in source: Source, _ url: URL) throws -> JSONNode {
        let file = source.file
        guard source.prefixEnd + file.byteCount - source.suffixStart <= maximumByteCount else {
            throw HARFailure(offset: source.suffixStart, index: nil, reason: "the text around the entries is too large")
                .error(in: url)
        }
        var text = try file.read(0..<source.prefixEnd)
        let byteOrderMark = text.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        text.removeFirst(byteOrderMark)
        let cut = text.count
        text += try file.read(source.suffixStart..<file.byteCount)
        do {
            let root = try JSONParser.parse(text)
            if let version = root["log"]?["version"]?.string, version.prefix(2) != "1." {
                throw HARFailure(offset: 0, index: nil, reason: "version \(version.prefix(16).debugDescription)").error(
                    in: url
                )
            }
            return root
        } catch let failure as JSONParser.Failure {
            let shift = byteOrderMark + (failure.offset < cut ? 0 : source.suffixStart - source.prefixEnd)
            throw HARFailure(offset: failure.offset + shift, index: nil, reason: failure.reason).error(in: url)
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
        isRootChanged = true
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
    /// Unchanged entries are copied byte by byte; a file without changes is copied as a whole.
    ///
    /// - Throws: `.recording(.notWritten)`; `.recording(.corrupt)` if the source file has been truncated in the
    ///   meantime.
    func write(to url: URL) throws {
        try HARWriter.replace(url) { writer in
            guard isChanged || source == nil else {
                try copy(0..<(source?.file.byteCount ?? 0), to: writer)
                return
            }
            try write(to: writer)
        }
    }

    private func write(to writer: HARWriter) throws {
        let source = isRootChanged ? nil : source
        let isNew = source?.ranges.isEmpty != false
        let (start, end) = frame
        if let source {
            try copy(0..<Self.start(of: source), to: writer)
        } else {
            try writer.append(start)
        }
        if isNew, !slots.isEmpty { try writer.append(Data(layout.opening.utf8)) }
        for (index, slot) in slots.enumerated() {
            if index > 0 { try writeSeparator(slots[index - 1], slot, to: writer) }
            switch slot {
            case .source(let number): try self.source.map { try copy($0.ranges[number], to: writer) }
            case .entry(let entry): try writer.append(entry.json.data(lines: layout.lines))
            }
        }
        if isNew, !slots.isEmpty { try writer.append(Data(layout.closing.utf8)) }
        if let source {
            try copy(source.suffixStart..<source.file.byteCount, to: writer)
        } else {
            try writer.append(end)
        }
    }

    /// The text before and after the entries, if it is not copied.
    private var frame: (start: Data, end: Data) {
        var root = root
        let place = JSONNode.string("entries-\(UUID())")
        root["log"]?["entries"] = place
        let text = root.data(lines: layout.lines.map { ("", $0.unit) })
        let range = text.firstRange(of: place.data()) ?? text.endIndex..<text.endIndex
        return (
            text[..<range.lowerBound] + Data("[".utf8), Data("]".utf8) + text[range.upperBound...] + Data("\n".utf8)
        )
    }

    private func writeSeparator(_ last: Slot, _ next: Slot, to writer: HARWriter) throws {
        guard let source, !isRootChanged, case .source(let first) = last, case .source(let second) = next,
            second == first + 1
        else {
            try writer.append(Data(layout.separator.utf8))
            return
        }
        try copy(source.ranges[first].upperBound..<source.ranges[second].lowerBound, to: writer)
    }

    private func copy(_ range: Range<Int>, to writer: HARWriter) throws {
        try source?.file.forEachWindow(in: range) { window, _ in try writer.append(window) }
    }
}
