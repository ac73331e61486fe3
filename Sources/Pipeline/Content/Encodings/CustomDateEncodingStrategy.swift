/// A payload or a query whose dates are written in a way of its own, whatever the request and the client say.
public protocol CustomDateEncodingStrategy {
    /// How its dates are written.
    static var dateEncodingStrategy: DateCodingStrategy { get }
}

extension Array: CustomDateEncodingStrategy where Element: CustomDateEncodingStrategy {
    /// That of the elements.
    public static var dateEncodingStrategy: DateCodingStrategy { Element.dateEncodingStrategy }
}

extension Optional: CustomDateEncodingStrategy where Wrapped: CustomDateEncodingStrategy {
    /// That of the value.
    public static var dateEncodingStrategy: DateCodingStrategy { Wrapped.dateEncodingStrategy }
}

extension Dictionary: CustomDateEncodingStrategy where Key == String, Value: CustomDateEncodingStrategy {
    /// That of the values.
    public static var dateEncodingStrategy: DateCodingStrategy { Value.dateEncodingStrategy }
}
