import Foundation

/// Cuts bytes into lines, wherever the pieces in which they come begin and end.
///
/// It holds the line that has begun, up to a limit, and the piece that was added last. Text that begins with a byte order mark loses it.
struct LineSplitter: Sendable {
    /// What ends a line.
    enum Ends: Sendable {
        /// LF; a CR before it stays a part of the line.
        case lineFeed
        /// LF, CRLF, or CR.
        case any
    }

    private let ends: Ends
    private let maximumByteCount: Int
    private var piece = Data()
    private var offset = 0
    /// The beginning of a line whose end is not in the pieces so far.
    private var begun: [UInt8] = []
    private var isFirst = true
    /// A CR has ended a line at once; the LF behind it, perhaps in the next piece, ends no other.
    private var skipsLineFeed = false
    private var isEnded = false
    private var isAbandoned = false

    init(_ ends: Ends, maximumByteCount: Int) {
        precondition(maximumByteCount > 0, "maximumByteCount is \(maximumByteCount), not 1 or more")
        self.ends = ends
        self.maximumByteCount = maximumByteCount
    }

    mutating func append(_ bytes: Data) {
        guard !isAbandoned else { return }
        piece = offset == piece.count ? bytes : piece.dropFirst(offset) + bytes
        offset = 0
    }

    /// Nothing more comes: what has begun is the last line.
    mutating func end() { isEnded = true }

    /// Forgets everything; there are no more lines.
    mutating func abandon() {
        (piece, offset, begun) = (Data(), 0, [])
        isAbandoned = true
    }

    /// The next line without its end, `nil` until more has come.
    mutating func next() throws -> [UInt8]? {
        guard let line = try nextLine() else { return nil }
        defer { isFirst = false }
        return isFirst && line.starts(with: Self.byteOrderMark) ? [UInt8](line.dropFirst(3)) : line
    }

    private mutating func nextLine() throws -> [UInt8]? {
        let (bytes, end) = takeUpToEnd()
        guard begun.count + bytes.count <= maximumByteCount else {
            abandon()
            throw PipelineError(.limit(.lineBytes), "a line is longer than the \(maximumByteCount) bytes allowed")
        }
        if let end {
            skipsLineFeed = end == Self.carriageReturn
            defer { begun = [] }
            return begun.isEmpty ? bytes : begun + bytes
        }
        begun += bytes
        guard isEnded, !begun.isEmpty else { return nil }
        defer { begun = [] }
        return begun
    }

    /// Takes what stands before the next end of a line, and that end; all that is left when there is none.
    private mutating func takeUpToEnd() -> ([UInt8], end: UInt8?) {
        let (taken, end, next) = piece.withUnsafeBytes { [offset, skipsLineFeed, ends] bytes in
            var start = offset
            if skipsLineFeed, start < bytes.count, bytes[start] == Self.lineFeed { start += 1 }
            let rest = bytes[start...]
            let end = rest.firstIndex { $0 == Self.lineFeed || (ends == .any && $0 == Self.carriageReturn) }
            guard let end else { return ([UInt8](rest), UInt8?.none, bytes.count) }
            return ([UInt8](rest[..<end]), bytes[end], end + 1)
        }
        if offset < piece.count { skipsLineFeed = false }
        offset = next
        if offset == piece.count { (piece, offset) = (Data(), 0) }
        return (taken, end)
    }

    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")
    private static let byteOrderMark: [UInt8] = [0xef, 0xbb, 0xbf]
}
