import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A scanner that finds the entries of a HAR file in one pass, without keeping their content.
///
/// It checks the JSON grammar of brackets, names, colons and commas. Texts and numbers are checked when they are read.
struct HARScanner {
    static let maximumEntryCount = 1 << 20

    private enum Expecting {
        case value
        case valueOrEnd
        case name
        case nameOrEnd
        case colon
        case commaOrEnd
        case nothing
    }

    private enum Token {
        case none
        case scalar
        case text(isEscaped: Bool)
    }

    /// The position of each entry in the file.
    private(set) var entries: [Range<Int>] = []
    /// The positions of the brackets around the entries.
    private(set) var brackets: (start: Int, end: Int)?

    private var expecting = Expecting.value
    private var token = Token.none
    /// Whether each open bracket belongs to an object.
    private var isObject: [Bool] = []
    /// The name of the last member, on the first two levels.
    private var name: [UInt8] = []
    private var isReadingName = false
    private var isInLog = false
    private var isInEntries = false
    private var hasLog = false
    private var entryStart = 0

    mutating func scan(_ window: UnsafeRawBufferPointer, at offset: Int) throws(HARFailure) {
        var index = offset == 0 && window.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        var quote = QuoteSearch(window: window)
        while index < window.count {
            switch token {
            case .text(let isEscaped):
                index = try scanText(window, index, offset, isEscaped, &quote)
            case .scalar where Self.isScalar(window[index]):
                index += 1
            case .scalar:
                token = .none
                valueEnds(offset + index)
            case .none:
                try start(window[index], offset + index)
                index += 1
            }
        }
    }

    /// Checks that the file, which has this length, is complete.
    mutating func finish(at end: Int) throws(HARFailure) {
        if case .scalar = token { valueEnds(end) }
        guard case .nothing = expecting else { throw failure(end, "the text ends too early") }
        guard brackets != nil else { throw failure(end, "the file has no log with entries") }
    }

    private func failure(_ offset: Int, _ reason: String) -> HARFailure {
        HARFailure(offset: offset, index: isInEntries ? entries.count : nil, reason: reason)
    }

    // MARK: Tokens

    private static func isScalar(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): true
        default: false
        }
    }

    private mutating func start(_ byte: UInt8, _ offset: Int) throws(HARFailure) {
        switch byte {
        case 0x20, 0x0a, 0x0d, 0x09: return
        case UInt8(ascii: "{"), UInt8(ascii: "["): try open(isObject: byte == UInt8(ascii: "{"), offset)
        case UInt8(ascii: "}"), UInt8(ascii: "]"): try close(isObject: byte == UInt8(ascii: "}"), offset)
        case UInt8(ascii: "\""): try startText(offset)
        case UInt8(ascii: ","):
            guard case .commaOrEnd = expecting else { throw failure(offset, "a comma with nothing before it") }
            expecting = isObject.last == true ? .name : .value
        case UInt8(ascii: ":"):
            guard case .colon = expecting else { throw failure(offset, "a colon without a name") }
            expecting = .value
        case _ where Self.isScalar(byte):
            try valueStarts(offset)
            token = .scalar
        default: throw failure(offset, "no value is written so")
        }
    }

    private mutating func startText(_ offset: Int) throws(HARFailure) {
        switch expecting {
        case .name, .nameOrEnd:
            isReadingName = true
            name.removeAll(keepingCapacity: true)
        default:
            isReadingName = false
            try valueStarts(offset)
        }
        token = .text(isEscaped: false)
    }

    /// - Returns: the index after the bytes that were read.
    private mutating func scanText(
        _ window: UnsafeRawBufferPointer,
        _ start: Int,
        _ offset: Int,
        _ isEscaped: Bool,
        _ search: inout QuoteSearch
    ) throws(HARFailure) -> Int {
        if isEscaped {
            keep(window, start..<start + 1)
            token = .text(isEscaped: false)
            return start + 1
        }
        let stop = search.stop(from: start)
        keep(window, start..<min(stop + 1, window.count))
        guard stop < window.count else { return stop }
        if window[stop] == UInt8(ascii: "\\") {
            token = .text(isEscaped: true)
            return stop + 1
        }
        token = .none
        if isReadingName { expecting = .colon } else { valueEnds(offset + stop + 1) }
        return stop + 1
    }

    /// A name is cut if it is longer than all names that are searched for.
    private mutating func keep(_ window: UnsafeRawBufferPointer, _ range: Range<Int>) {
        guard isReadingName, isObject.count <= 2, name.count < 64 else { return }
        name.append(contentsOf: window[range].prefix(64))
    }

    private func isNamed(_ text: String) -> Bool {
        if name.elementsEqual(Array((text + "\"").utf8)) { return true }
        // A name written with escapes is the same name.
        return name.contains(UInt8(ascii: "\\")) && (try? JSONParser.parse([UInt8(ascii: "\"")] + name))?.string == text
    }

    // MARK: Structure

    private mutating func valueStarts(_ offset: Int) throws(HARFailure) {
        switch expecting {
        case .value, .valueOrEnd: break
        case .nothing: throw failure(offset, "something follows the value")
        default: throw failure(offset, "a value where none is expected")
        }
        if isInEntries, isObject.count == 3 {
            guard entries.count < Self.maximumEntryCount else {
                throw failure(offset, "more than \(Self.maximumEntryCount) entries")
            }
            entryStart = offset
        }
    }

    private mutating func valueEnds(_ end: Int) {
        expecting = isObject.isEmpty ? .nothing : .commaOrEnd
        if isInEntries, isObject.count == 3 { entries.append(entryStart..<end) }
    }

    private mutating func open(isObject kind: Bool, _ offset: Int) throws(HARFailure) {
        try valueStarts(offset)
        guard isObject.count < JSONParser.maximumDepth else {
            throw failure(offset, "nested deeper than \(JSONParser.maximumDepth) levels")
        }
        switch isObject.count {
        case 1 where isObject == [true] && isNamed("log"):
            guard !hasLog else { throw failure(offset, "a second log") }
            hasLog = true
            isInLog = kind
        case 2 where isInLog && isObject[1] && !kind && isNamed("entries"):
            guard brackets == nil else { throw failure(offset, "a second list of entries") }
            brackets = (offset, offset)
            isInEntries = true
        default: break
        }
        isObject.append(kind)
        expecting = kind ? .nameOrEnd : .valueOrEnd
    }

    private mutating func close(isObject kind: Bool, _ offset: Int) throws(HARFailure) {
        switch (expecting, isObject.last) {
        case (.commaOrEnd, kind), (.nameOrEnd, kind), (.valueOrEnd, kind): break
        default: throw failure(offset, kind ? "an object does not end here" : "an array does not end here")
        }
        isObject.removeLast()
        if isInEntries, isObject.count == 2 {
            isInEntries = false
            brackets?.end = offset
        }
        if isObject.count == 1 { isInLog = false }
        valueEnds(offset + 1)
    }
}

/// A search for the end of a text.
///
/// Each position is searched only once, so the time is linear even for a text of backslashes only.
private struct QuoteSearch {
    let window: UnsafeRawBufferPointer
    private var quote = -1

    init(window: UnsafeRawBufferPointer) { self.window = window }

    /// Returns the index of the next quotation mark or backslash, or the end of the window.
    mutating func stop(from start: Int) -> Int {
        if quote < start { quote = index(of: UInt8(ascii: "\""), in: start..<window.count) }
        return index(of: UInt8(ascii: "\\"), in: start..<quote)
    }

    private func index(of byte: UInt8, in range: Range<Int>) -> Int {
        guard let base = window.baseAddress, !range.isEmpty,
            let found = memchr(base + range.lowerBound, Int32(byte), range.count)
        else { return range.upperBound }
        return UnsafeRawPointer(found) - base
    }
}
