/// A request type with its own date strategy, which overrides those of the request and the client.
public protocol CustomDateEncodingStrategy {
    /// The strategy for encoding its dates.
    static var dateEncodingStrategy: DateCodingStrategy { get }
}

extension Array: CustomDateEncodingStrategy where Element: CustomDateEncodingStrategy {
    /// The strategy of the elements.
    public static var dateEncodingStrategy: DateCodingStrategy { Element.dateEncodingStrategy }
}

extension Optional: CustomDateEncodingStrategy where Wrapped: CustomDateEncodingStrategy {
    /// The strategy of the wrapped value.
    public static var dateEncodingStrategy: DateCodingStrategy { Wrapped.dateEncodingStrategy }
}

extension Dictionary: CustomDateEncodingStrategy where Key == String, Value: CustomDateEncodingStrategy {
    /// The strategy of the values.
    public static var dateEncodingStrategy: DateCodingStrategy { Value.dateEncodingStrategy }
}
