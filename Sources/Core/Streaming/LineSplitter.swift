import Foundation

/// Splits bytes into lines, regardless of how they are cut into pieces.
///
/// Each byte is examined at most twice and copied once, however the bytes are cut. This happens in bulk, so debug
/// builds take linear time too. The splitter holds the current line, up to a limit, and the pieces that have not been
/// read. A byte order mark at the beginning of the text is removed.
struct LineSplitter: Sendable {
    /// What ends a line.
    enum Ends: Sendable {
        /// LF; a CR before it remains part of the line.
        case lineFeed
        /// LF, CRLF, or CR.
        case any
    }

    /// The number of bytes that were examined or copied.
    private(set) var stepCount = 0

    private let ends: Ends
    private let maximumByteCount: Int
    /// Pieces that have not been read to their end; none is empty.
    private var pieces: ArraySlice<Data> = []
    /// How much of the first piece has been read.
    private var offset = 0
    /// The offset of the first LF in the rest of the first piece, or of the end of the piece; `nil` until it is
    /// searched for.
    ///
    /// Without it, each line that ends with CR would search the whole rest for an LF.
    private var knownLineFeed: Int?
    /// The beginning of a line whose end has not been read.
    private var begun: [UInt8] = []
    private var isFirst = true
    /// A CR has ended a line; an LF directly after it, perhaps in the next piece, does not end another.
    private var skipsLineFeed = false
    private var isEnded = false
    private var isAbandoned = false

    init(_ ends: Ends, maximumByteCount: Int) {
        precondition(maximumByteCount > 0, "maximumByteCount is \(maximumByteCount), not 1 or more")
        self.ends = ends
        self.maximumByteCount = maximumByteCount
    }

    mutating func append(_ bytes: Data) {
        guard !isAbandoned, !bytes.isEmpty else { return }
        pieces.append(bytes)
    }

    /// Ends the text; an unfinished line becomes the last line.
    mutating func end() { isEnded = true }

    /// Discards everything; no further lines follow.
    mutating func abandon() {
        (pieces, offset, knownLineFeed, begun) = ([], 0, nil, [])
        isAbandoned = true
    }

    /// Returns the next line without its end, or `nil` until more bytes arrive.
    mutating func next() throws -> [UInt8]? {
        guard let line = try nextLine() else { return nil }
        defer { isFirst = false }
        return isFirst && line.starts(with: Self.byteOrderMark) ? [UInt8](line.dropFirst(3)) : line
    }

    private mutating func nextLine() throws -> [UInt8]? {
        while let piece = pieces.first {
            let (content, end) = rest(of: piece)
            try take(content, of: piece)
            skip(to: end == nil ? content.upperBound : content.upperBound + 1, of: piece)
            skipsLineFeed = end == Self.carriageReturn
            if end != nil { return takeBegun() }
        }
        return isEnded && !begun.isEmpty ? takeBegun() : nil
    }

    /// Returns the rest of the current line in a piece and the byte that ends it; the byte is `nil` if the piece ends
    /// first.
    private mutating func rest(of piece: Data) -> (content: Range<Int>, end: UInt8?) {
        piece.withUnsafeBytes { bytes in
            let start = skipsLineFeed && bytes[offset] == Self.lineFeed ? offset + 1 : offset
            var stop = knownLineFeed ?? -1
            if stop < start {
                stop = bytes.firstOffset(of: Self.lineFeed, in: start..<bytes.count)
                stepCount += stop - start
                knownLineFeed = stop
            }
            if ends == .any {
                stop = bytes.firstOffset(of: Self.carriageReturn, in: start..<stop)
                stepCount += stop - start
            }
            return (start..<stop, stop < bytes.count ? bytes[stop] : nil)
        }
    }

    private mutating func take(_ content: Range<Int>, of piece: Data) throws {
        guard begun.count + content.count <= maximumByteCount else {
            abandon()
            throw PipelineError(.limit(.lineBytes), "a line is longer than the \(maximumByteCount) bytes allowed")
        }
        piece.withUnsafeBytes { bytes in
            stepCount += begun.append(copying: UnsafeRawBufferPointer(rebasing: bytes[content]))
        }
    }

    private mutating func skip(to next: Int, of piece: Data) {
        guard next == piece.count else {
            offset = next
            return
        }
        (offset, knownLineFeed) = (0, nil)
        pieces = pieces.count > 1 ? pieces.dropFirst() : []
    }

    private mutating func takeBegun() -> [UInt8] {
        defer { begun = [] }
        return begun
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
}

extension [UInt8] {
    /// Appends bytes.
    ///
    /// - Returns: the number of bytes copied: the new ones, plus the existing ones if they were moved.
    mutating func append(copying bytes: UnsafeRawBufferPointer) -> Int {
        let (oldCount, oldAddress) = (count, withUnsafeBytes { $0.baseAddress })
        append(contentsOf: bytes.assumingMemoryBound(to: UInt8.self))
        return bytes.count + (withUnsafeBytes { $0.baseAddress } == oldAddress ? 0 : oldCount)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns the offset of the first such byte in a range, or the end of the range.
    fileprivate func firstOffset(of byte: UInt8, in range: Range<Int>) -> Int {
        guard !range.isEmpty, let baseAddress,
            let match = memchr(baseAddress + range.lowerBound, CInt(byte), range.count)
        else { return range.upperBound }
        return baseAddress.distance(to: UnsafeRawPointer(match))
    }
}
