public import Foundation

/// An event that a server has sent.
///
/// Source: HTML, 9.2 Server-sent events, https://html.spec.whatwg.org/multipage/server-sent-events.html
public struct ServerSentEvent: Sendable, Hashable {
    /// The name of the event; `message` if the server sent none.
    public var type: String

    /// The data of the event, with several lines joined by LF.
    public var data: String

    /// The ID that the server sent last, with this event or an earlier one; empty if it sent none.
    public var id: String

    /// Makes an event from its parts.
    public init(type: String = "message", data: String, id: String = "") {
        self.type = type
        self.data = data
        self.id = id
    }

    /// Decodes the data from JSON.
    ///
    /// - Parameters:
    ///   - type: the type to decode.
    ///   - decoder: the decoder; `nil` for that of ``ProviderConfiguration/Coders``.
    /// - Returns: the decoded value.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/mapping(_:)`` (`.object`). The error
    ///   names declared keys and indices, never a part of the data.
    public func map<Value: Decodable>(_ type: Value.Type, using decoder: JSONDecoder? = nil) throws -> Value {
        do {
            let decoder = decoder ?? ProviderConfiguration.Coders.standard.jsonDecoder(for: type)
            return try decoder.decode(type, from: Data(data.utf8))
        } catch {
            let place = data.isEmpty ? ": it is empty" : PipelineResponse.place(of: error, in: Data(data.utf8))
            throw PipelineError(
                .mapping(.object),
                "the data of an event does not decode to \(type)\(place)",
                underlyingError: error
            )
        }
    }
}

extension ServerSentEvent: SafelyDescribed {
    /// The type and the number of bytes of the data, which may contain a secret.
    public var description: String { "event \(type.quotedExcerpt), \(data.utf8.count) bytes" }
}
