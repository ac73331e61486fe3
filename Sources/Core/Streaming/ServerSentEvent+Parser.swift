public import Foundation

extension ServerSentEvent {
    /// A parser that reads Server-Sent Events from bytes, regardless of how they are cut into pieces.
    ///
    /// ```swift
    /// var parser = ServerSentEvent.Parser()
    /// for try await piece in body {
    ///     parser.append(piece)
    ///     while let event = try parser.next() { show(event) }
    /// }
    /// ```
    ///
    /// **Effects**
    ///
    /// - Lines end with LF, CRLF or CR, and a CR ends its line at once.
    /// - The parser ignores a byte order mark at the beginning, comments, unknown fields, a `retry` that is not all
    ///   digits, an event without data, and a block of lines that no empty line ends.
    /// - It ignores an `id` that Last-Event-ID cannot carry and keeps the previous ID. Such an ID has more than 4,096
    ///   bytes, or a control character other than tab; the standard excludes only NUL.
    /// - Bytes that are not UTF-8 are replaced by U+FFFD.
    /// - The parser holds one line and one event. Its work is linear in the number of bytes, however they are cut.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/limit(_:)`` with `.lineBytes` if a line is longer than allowed,
    /// and with `.eventBytes` if the data of an event is. Nothing is read after an error.
    ///
    /// Source: HTML, 9.2.6 Interpreting an event stream,
    /// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
    public struct Parser: StreamDecoder {
        /// The most bytes of an ID; servers refuse header fields that are much longer.
        private static let maximumIDByteCount = 4_096

        private let maximumByteCount: Int
        private var lines: LineSplitter
        private var data: [UInt8]?
        private var copiedByteCount = 0
        private var type = ""
        private var id: String

        /// The ID to continue after: that of the last complete block of lines, even if it has no data.
        public private(set) var lastEventID: String

        /// The time to wait before reconnecting; `nil` until the server sends one.
        public private(set) var reconnectionTime: Duration?

        /// The number of bytes that were examined or copied.
        var stepCount: Int { lines.stepCount + copiedByteCount }

        /// Makes a parser for one stream.
        ///
        /// - Parameters:
        ///   - maximumByteCount: the most bytes of a line, and of the data of an event, 1 and up; defaults to 1 MiB.
        ///   - lastEventID: the ID of events until the server sends another.
        public init(maximumByteCount: Int = 1 << 20, lastEventID: String = "") {
            self.maximumByteCount = maximumByteCount
            self.lastEventID = lastEventID
            lines = LineSplitter(.any, maximumByteCount: maximumByteCount)
            id = lastEventID
        }

        /// Adds bytes, in a piece of any size.
        public mutating func append(_ bytes: Data) { lines.append(bytes) }

        mutating func end() {}

        /// Returns the next event, or `nil` until more bytes arrive.
        public mutating func next() throws -> ServerSentEvent? {
            try nextNotice(reportingComments: false)?.event
        }

        /// Returns the next event or comment, or `nil` until more bytes arrive.
        mutating func nextNotice(reportingComments: Bool) throws -> ServerSentEvent.Subscription.Notice? {
            while let line = try lines.next() {
                if line.isEmpty {
                    if let event = dispatch() { return .init(event: event) }
                } else if line.first == Self.colon {
                    if reportingComments {
                        return .init(comment: String(decoding: Self.value(in: line, after: 0), as: UTF8.self))
                    }
                } else {
                    try process(line)
                }
            }
            return nil
        }

        private mutating func dispatch() -> ServerSentEvent? {
            lastEventID = id
            defer { (data, type) = (nil, "") }
            guard let data else { return nil }
            return ServerSentEvent(
                type: type.isEmpty ? "message" : type,
                data: String(decoding: data, as: UTF8.self),
                id: lastEventID
            )
        }

        private mutating func process(_ line: [UInt8]) throws {
            // No known field has a longer name; a long line without a colon is not searched.
            let beginning = line.prefix(Self.longestName + 1)
            let colon = beginning.firstIndex(of: Self.colon) ?? beginning.endIndex
            let value = Self.value(in: line, after: colon)
            switch String(decoding: beginning[..<colon], as: UTF8.self) {
            case "data": try append(value)
            case "event": type = String(decoding: value, as: UTF8.self)
            case "id" where Self.canBeSent(value): id = String(decoding: value, as: UTF8.self)
            case "retry": setReconnectionTime(value)
            default: break
            }
        }

        /// Returns what follows a colon, without one leading space.
        private static func value(in line: [UInt8], after colon: Int) -> ArraySlice<UInt8> {
            let value = line[colon...].dropFirst()
            return value.first == UInt8(ascii: " ") ? value.dropFirst() : value
        }

        private static func canBeSent(_ id: ArraySlice<UInt8>) -> Bool {
            id.count <= maximumIDByteCount && id.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == UInt8(ascii: "\t") }
        }

        private mutating func append(_ value: ArraySlice<UInt8>) throws {
            let byteCount = data.map { $0.count + 1 + value.count } ?? value.count
            guard byteCount <= maximumByteCount else {
                lines.abandon()
                data = nil
                throw PipelineError(
                    .limit(.eventBytes),
                    "the data of an event is longer than the \(maximumByteCount) bytes allowed"
                )
            }
            // In place: copying the data for each line would take quadratic time.
            if data == nil {
                data = []
            } else {
                copiedByteCount += withUnsafeBytes(of: UInt8(ascii: "\n")) { data?.append(copying: $0) ?? 0 }
            }
            copiedByteCount += value.withUnsafeBytes { data?.append(copying: $0) ?? 0 }
        }

        private mutating func setReconnectionTime(_ digits: ArraySlice<UInt8>) {
            guard digits.isDigits else { return }
            reconnectionTime = .milliseconds(Int64(String(decoding: digits, as: UTF8.self)) ?? .max)
        }

        private static let colon = UInt8(ascii: ":")
        private static let longestName = "event".utf8.count
    }
}
