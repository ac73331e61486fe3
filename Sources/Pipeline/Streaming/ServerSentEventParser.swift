public import Foundation

/// Reads Server-Sent Events from bytes, wherever the pieces in which they come begin and end.
///
/// ```swift
/// var parser = ServerSentEventParser()
/// for try await piece in body {
///     parser.append(piece)
///     while let event = try parser.next() { show(event) }
/// }
/// ```
///
/// **Effects**: lines end with LF, CRLF or CR, and a CR ends its line at once. A byte order mark at the beginning, comments, unknown
/// fields, an `id` with a NUL, a `retry` that is not all digits, and an event without data are left out, and so is what has not come
/// to its empty line. What is no UTF-8 is replaced by U+FFFD. It holds one line and one event.
///
/// **Errors**: ``PipelineError/Code-swift.struct/limit(_:)`` with `.lineBytes` for a line and with `.eventBytes` for the data of an event
/// that is longer than allowed; nothing is read after it.
///
/// Source: HTML, 9.2.6 Interpreting an event stream,
/// https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
public struct ServerSentEventParser: StreamDecoder {
    private let maximumByteCount: Int
    private var lines: LineSplitter
    private var data: [UInt8]?
    private var type = ""
    private var id: String

    /// The ID to go on from: that of the last block of lines that was complete, also of one without data.
    public private(set) var lastEventID: String

    /// How long to wait before reconnecting, `nil` while the server has not said.
    public private(set) var reconnectionTime: Duration?

    /// Makes a parser.
    ///
    /// - Parameters:
    ///   - maximumByteCount: the most bytes of a line, and of the data of an event, 1 and up; default 1 MiB.
    ///   - lastEventID: the ID of events before the server gives another.
    public init(maximumByteCount: Int = 1 << 20, lastEventID: String = "") {
        self.maximumByteCount = maximumByteCount
        self.lastEventID = lastEventID
        lines = LineSplitter(.any, maximumByteCount: maximumByteCount)
        id = lastEventID
    }

    /// Adds a piece of any size.
    public mutating func append(_ bytes: Data) { lines.append(bytes) }

    mutating func end() {}

    /// The next event, `nil` until more has come.
    public mutating func next() throws -> ServerSentEvent? {
        while let line = try lines.next() {
            guard !line.isEmpty else {
                if let event = dispatch() { return event }
                continue
            }
            try process(line)
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
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value = value.dropFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data": try append(value)
        case "event": type = String(decoding: value, as: UTF8.self)
        case "id" where !value.contains(0): id = String(decoding: value, as: UTF8.self)
        case "retry": setReconnectionTime(value)
        default: break
        }
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
        if data != nil { data?.append(UInt8(ascii: "\n")) }
        data = (data.take() ?? []) + value
    }

    private mutating func setReconnectionTime(_ digits: ArraySlice<UInt8>) {
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return
        }
        reconnectionTime = .milliseconds(Int64(String(decoding: digits, as: UTF8.self)) ?? .max)
    }
}
