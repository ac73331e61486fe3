/// The statuses that a target accepts as success.
///
/// Validation is the last step of a call: plugins see a response with any status as a success.
public struct ValidationType: Sendable, Hashable {
    /// The accepted statuses; `nil` for every status.
    private let codes: Set<Int>?

    /// Accepts every status: a 404 or a 500 is not an error.
    public static let anyStatus = ValidationType(codes: nil)

    /// Accepts the statuses 200 to 299.
    public static let successCodes = customCodes(200...299)

    /// Accepts the statuses 200 to 399.
    public static let successAndRedirectCodes = customCodes(200...399)

    /// Accepts exactly the given statuses; if the list is empty, every response is an error.
    ///
    /// Use ``anyStatus`` to accept every status.
    public static func customCodes(_ codes: some Sequence<Int>) -> ValidationType {
        ValidationType(codes: Set(codes))
    }

    /// Returns whether a response with this status is a success.
    public func accepts(_ statusCode: Int) -> Bool { codes?.contains(statusCode) ?? true }
}

extension ValidationType: CustomStringConvertible {
    /// The accepted statuses, at most eight of them.
    public var description: String {
        guard let codes else { return "any status" }
        if codes.isEmpty { return "no status" }
        if self == .successCodes { return "200…299" }
        if self == .successAndRedirectCodes { return "200…399" }
        return codes.sorted().prefix(8).map(String.init).joined(separator: ", ") + (codes.count > 8 ? ", …" : "")
    }
}
