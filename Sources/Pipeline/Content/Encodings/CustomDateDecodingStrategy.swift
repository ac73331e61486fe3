/// An answer whose dates are read in a way of their own, whatever the request and the client say.
///
/// The type of the whole answer is asked, or that of its elements or values; what stands deeper inside is read in the same way.
public protocol CustomDateDecodingStrategy {
    /// How its dates are read.
    static var dateDecodingStrategy: DateCodingStrategy { get }
}

extension Array: CustomDateDecodingStrategy where Element: CustomDateDecodingStrategy {
    /// That of the elements.
    public static var dateDecodingStrategy: DateCodingStrategy { Element.dateDecodingStrategy }
}

extension Optional: CustomDateDecodingStrategy where Wrapped: CustomDateDecodingStrategy {
    /// That of the value.
    public static var dateDecodingStrategy: DateCodingStrategy { Wrapped.dateDecodingStrategy }
}

extension Dictionary: CustomDateDecodingStrategy where Key == String, Value: CustomDateDecodingStrategy {
    /// That of the values.
    public static var dateDecodingStrategy: DateCodingStrategy { Value.dateDecodingStrategy }
}
