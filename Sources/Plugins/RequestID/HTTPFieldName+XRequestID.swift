public import HTTPTypes

extension HTTPField.Name {
    /// X-Request-Id.
    public static let xRequestID: Self = {
        guard let name = Self("X-Request-Id") else { preconditionFailure("X-Request-Id is no field name") }
        return name
    }()
}
