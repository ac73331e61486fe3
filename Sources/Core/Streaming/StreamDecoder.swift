import Foundation

/// Decodes values from bytes that arrive in pieces; a value itself, so it can be tested without a stream.
protocol StreamDecoder: Sendable {
    associatedtype Element: Sendable

    /// Adds a piece.
    mutating func append(_ bytes: Data)

    /// Marks the end of the bytes.
    mutating func end()

    /// Returns the next value, or `nil` until more bytes arrive.
    mutating func next() throws -> Element?
}

/// Decodes lines of text.
struct LineDecoder: StreamDecoder {
    private var lines: LineSplitter

    init(maximumByteCount: Int) {
        lines = LineSplitter(.any, maximumByteCount: maximumByteCount)
    }

    mutating func append(_ bytes: Data) { lines.append(bytes) }

    mutating func end() { lines.end() }

    mutating func next() throws -> String? {
        try lines.next().map { String(decoding: $0, as: UTF8.self) }
    }
}

/// Decodes a value from each line that is not blank.
struct JSONLineDecoder<Value: Decodable & Sendable>: StreamDecoder {
    private var lines: LineSplitter
    private var number = 0
    private let decoder: JSONDecoder

    init(decoder: JSONDecoder, maximumByteCount: Int) {
        // Between the tokens of a JSON text, a CR is white space and does not end a line.
        lines = LineSplitter(.lineFeed, maximumByteCount: maximumByteCount)
        self.decoder = decoder
    }

    mutating func append(_ bytes: Data) { lines.append(bytes) }

    mutating func end() { lines.end() }

    mutating func next() throws -> Value? {
        while let line = try lines.next() {
            number += 1
            guard !line.allSatisfy(Self.isBlank) else { continue }
            do {
                return try decoder.decode(Value.self, from: Data(line))
            } catch {
                lines.abandon()
                let place = PipelineResponse.place(of: error, in: Data(line))
                throw PipelineError(
                    .mapping(.object),
                    "line \(number) does not decode to \(Value.self)\(place)",
                    underlyingError: error
                )
            }
        }
        return nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\r")
    }
}
