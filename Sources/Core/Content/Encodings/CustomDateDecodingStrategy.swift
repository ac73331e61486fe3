/// A response type with its own date strategy, which overrides those of the request and the client.
///
/// The strategy is that of the type to which the whole response decodes, or of its elements or values. It also applies
/// to all nested values.
public protocol CustomDateDecodingStrategy {
    /// The strategy for decoding its dates.
    static var dateDecodingStrategy: DateCodingStrategy { get }
}

extension Array: CustomDateDecodingStrategy where Element: CustomDateDecodingStrategy {
    /// The strategy of the elements.
    public static var dateDecodingStrategy: DateCodingStrategy { Element.dateDecodingStrategy }
}

extension Optional: CustomDateDecodingStrategy where Wrapped: CustomDateDecodingStrategy {
    /// The strategy of the wrapped value.
    public static var dateDecodingStrategy: DateCodingStrategy { Wrapped.dateDecodingStrategy }
}

extension Dictionary: CustomDateDecodingStrategy where Key == String, Value: CustomDateDecodingStrategy {
    /// The strategy of the values.
    public static var dateDecodingStrategy: DateCodingStrategy { Value.dateDecodingStrategy }
}
