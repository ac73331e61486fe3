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

/// Decodes a value from each line.
struct LineDecoder<Element: Sendable>: StreamDecoder {
    private var lines: LineSplitter
    private var number = 0
    /// Returns the value of a line; `nil` for a line without one.
    private let decode: @Sendable (_ line: [UInt8], _ number: Int) throws -> Element?

    mutating func append(_ bytes: Data) { lines.append(bytes) }

    mutating func end() { lines.end() }

    mutating func next() throws -> Element? {
        while let line = try lines.next() {
            number += 1
            do {
                if let element = try decode(line, number) { return element }
            } catch {
                lines.abandon()
                throw error
            }
        }
        return nil
    }
}

extension LineDecoder<String> {
    /// Decodes lines of text.
    init(maximumByteCount: Int) {
        lines = LineSplitter(.any, maximumByteCount: maximumByteCount)
        decode = { line, _ in String(decoding: line, as: UTF8.self) }
    }
}

extension LineDecoder where Element: Decodable {
    /// Decodes JSON from each line that is not blank.
    init(decoder: JSONDecoder, maximumByteCount: Int) {
        // Between the tokens of a JSON text, a CR is white space and does not end a line.
        lines = LineSplitter(.lineFeed, maximumByteCount: maximumByteCount)
        decode = { line, number in
            guard !line.allSatisfy({ $0.isBlank || $0 == UInt8(ascii: "\r") }) else { return nil }
            do {
                return try decoder.decode(Element.self, from: Data(line))
            } catch {
                let reason = "line \(number) does not decode to \(Element.self)"
                let place = PipelineResponse.place(of: error, in: Data(line))
                throw PipelineError(.mapping(.object), reason + place, underlyingError: error)
            }
        }
    }
}
