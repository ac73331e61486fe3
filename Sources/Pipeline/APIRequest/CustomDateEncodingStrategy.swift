/// A payload or a query whose dates are written in a way of its own, whatever the request and the client say.
public protocol CustomDateEncodingStrategy {
    /// How its dates are written.
    static var dateEncodingStrategy: DateCodingStrategy { get }
}

extension Array: CustomDateEncodingStrategy where Element: CustomDateEncodingStrategy {
    /// That of the elements.
    public static var dateEncodingStrategy: DateCodingStrategy { Element.dateEncodingStrategy }
}
