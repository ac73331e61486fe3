import Foundation
import PipelineCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A file that stays open, so that it can be read even after another file has taken its name.
final class HARSource: Sendable {
    static let windowByteCount = 64 << 10

    let byteCount: Int
    private let descriptor: Int32

    /// - Throws: `.recording(.missingFile)`; `.recording(.corrupt)` if it is not a readable file.
    convenience init(_ url: URL) throws {
        let descriptor = open(url.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            let failure = errno
            let isMissing = failure == ENOENT || failure == ENOTDIR
            throw PipelineError(
                .recording(isMissing ? .missingFile : .corrupt),
                "the file \(url.lastPathComponent.debugDescription) \(isMissing ? "does not exist" : "cannot be read")",
                underlyingError: POSIXErrorCode(rawValue: failure).map { POSIXError($0) }
            )
        }
        try self.init(descriptor: descriptor)
    }

    /// Takes ownership of the descriptor.
    init(descriptor: Int32) throws {
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        self.descriptor = descriptor
        byteCount = isFile ? Int(status.st_size) : 0
        guard isFile else { throw PipelineError.corrupt("the path does not name a file") }
    }

    deinit { _ = close(descriptor) }

    func read(_ range: Range<Int>) throws -> Data {
        var data = Data(count: range.count)
        try data.withUnsafeMutableBytes { try read(range, into: $0) }
        return data
    }

    /// Passes the bytes to `body` in windows, which are valid only during the call.
    func forEachWindow(in range: Range<Int>, _ body: (UnsafeRawBufferPointer, _ offset: Int) throws -> Void) throws {
        let window = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.windowByteCount, alignment: 1)
        defer { window.deallocate() }
        for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.windowByteCount) {
            let end = min(start + Self.windowByteCount, range.upperBound)
            let part = UnsafeMutableRawBufferPointer(rebasing: window[..<(end - start)])
            try read(start..<end, into: part)
            try body(UnsafeRawBufferPointer(part), start)
        }
    }

    private func read(_ range: Range<Int>, into buffer: UnsafeMutableRawBufferPointer) throws {
        var filled = 0
        while filled < range.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let offset = off_t(range.lowerBound + filled)
            let count = rest.baseAddress.map { pread(descriptor, $0, rest.count, offset) } ?? 0
            if count < 0, errno == EINTR { continue }
            guard count > 0 else {
                throw PipelineError.corrupt("the file ends or cannot be read at byte \(range.lowerBound + filled)")
            }
            filled += count
        }
    }
}

/// A scanner that finds the entries of a HAR file in one pass, without keeping their content.
///
/// It checks only what separates the entries. The entries, and the text around them, are checked when they are parsed.
struct HARScanner {
    static let maximumEntryCount = 1 << 20

    /// The position of each entry in the file.
    private(set) var entries: [Range<Int>] = []
    /// The position of the bracket that ends the list of entries.
    private(set) var end: Int?

    private var depth = 0
    private var isInText = false
    private var isEscaped = false
    /// The last text, on the first two levels.
    private var name: [UInt8] = []
    private var isInLog = false
    private var isInEntries = false
    /// The entry that is being read.
    private var entry: Range<Int>?

    mutating func scan(_ window: UnsafeRawBufferPointer, at offset: Int) throws(HARFailure) {
        var index = 0
        while index < window.count {
            if isInText {
                index = readText(window, from: index)
                extendEntry(to: offset + index)
            } else {
                try read(window[index], offset + index)
                index += 1
            }
        }
    }

    /// Checks that the file, which has this length, is complete.
    func finish(at end: Int) throws(HARFailure) {
        guard depth == 0, !isInText else { throw failure(end, "the text ends too early") }
    }

    private func failure(_ offset: Int, _ reason: String) -> HARFailure {
        HARFailure(offset: offset, index: isInEntries ? entries.count : nil, reason: reason)
    }

    private mutating func read(_ byte: UInt8, _ offset: Int) throws(HARFailure) {
        switch byte {
        case 0x20, 0x0a, 0x0d, 0x09: return
        case UInt8(ascii: ",") where isInEntries && depth == 3: return try endEntry(offset)
        case UInt8(ascii: "}"), UInt8(ascii: "]"): return try close(byte, offset)
        default: extendEntry(to: offset + 1)
        }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["): try open(byte, offset)
        case UInt8(ascii: "\""):
            isInText = true
            name.removeAll(keepingCapacity: true)
        default: break
        }
    }

    /// Reads a text up to its end.
    ///
    /// Looks at each byte at most twice, so the time is linear even for a text of backslashes only.
    ///
    /// - Returns: the index after the bytes that were read.
    private mutating func readText(_ window: UnsafeRawBufferPointer, from start: Int) -> Int {
        let rest = UnsafeRawBufferPointer(rebasing: window[start...])
        let quote = rest.baseAddress.flatMap { memchr($0, Int32(UInt8(ascii: "\"")), rest.count) }
        let count = quote.flatMap { quote in rest.baseAddress.map { UnsafeRawPointer(quote) - $0 } } ?? rest.count
        // A name is cut if it is longer than all names that are searched for.
        if depth <= 2, name.count < 64 { name.append(contentsOf: rest[..<count].prefix(64)) }
        var backslashes = 0
        while backslashes < count, rest[count - 1 - backslashes] == UInt8(ascii: "\\") { backslashes += 1 }
        isEscaped = backslashes.isMultiple(of: 2) == (backslashes == count && isEscaped)
        guard count < rest.count else { return window.count }
        if isEscaped, depth <= 2 { name.append(UInt8(ascii: "\"")) }
        isInText = isEscaped
        isEscaped = false
        return start + count + 1
    }

    private func isNamed(_ text: String) -> Bool {
        let quote = [UInt8(ascii: "\"")]
        return (try? JSONParser.parse(quote + name + quote))?.string == text
    }

    // MARK: Structure

    private mutating func open(_ byte: UInt8, _ offset: Int) throws(HARFailure) {
        guard depth < JSONParser.maximumDepth else {
            throw failure(offset, "nested deeper than \(JSONParser.maximumDepth) levels")
        }
        depth += 1
        if depth == 2 { isInLog = isNamed("log") }
        guard depth == 3, isInLog, byte == UInt8(ascii: "["), isNamed("entries") else { return }
        guard end == nil else { throw failure(offset, "a second list of entries") }
        end = offset
        isInEntries = true
    }

    private mutating func close(_ byte: UInt8, _ offset: Int) throws(HARFailure) {
        guard depth > 0 else { throw failure(offset, "a bracket that was not opened") }
        if isInEntries, depth == 3 {
            guard byte == UInt8(ascii: "]") else { throw failure(offset, "an array does not end here") }
            if entry != nil || !entries.isEmpty { try endEntry(offset) }
            end = offset
            isInEntries = false
        }
        depth -= 1
        extendEntry(to: offset + 1)
    }

    /// Adds bytes to the entry that is being read, or begins one.
    private mutating func extendEntry(to end: Int) {
        guard isInEntries else { return }
        entry = (entry?.lowerBound ?? end - 1)..<end
    }

    private mutating func endEntry(_ offset: Int) throws(HARFailure) {
        guard let entry else { throw failure(offset, "an entry is missing") }
        guard entries.count < Self.maximumEntryCount else {
            throw failure(entry.lowerBound, "more than \(Self.maximumEntryCount) entries")
        }
        entries.append(entry)
        self.entry = nil
    }
}
