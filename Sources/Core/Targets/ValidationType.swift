/// The statuses that a target accepts as success.
///
/// Validation is the last step of a call: plugins see a response with any status as a success.
public struct ValidationType: Sendable, Hashable {
    private enum Kind: Hashable {
        case anyStatus
        case successCodes
        case successAndRedirectCodes
        case custom(Set<Int>)
    }

    private let kind: Kind

    /// Accepts every status: a 404 or a 500 is not an error.
    public static let anyStatus = ValidationType(kind: .anyStatus)

    /// Accepts the statuses 200 to 299.
    public static let successCodes = ValidationType(kind: .successCodes)

    /// Accepts the statuses 200 to 399.
    public static let successAndRedirectCodes = ValidationType(kind: .successAndRedirectCodes)

    /// Accepts exactly the given statuses; if the list is empty, every response is an error.
    ///
    /// Use ``anyStatus`` to accept every status.
    public static func customCodes(_ codes: some Sequence<Int>) -> ValidationType {
        ValidationType(kind: .custom(Set(codes)))
    }

    /// Returns whether a response with this status is a success.
    public func accepts(_ statusCode: Int) -> Bool {
        switch kind {
        case .anyStatus: true
        case .successCodes: (200..<300).contains(statusCode)
        case .successAndRedirectCodes: (200..<400).contains(statusCode)
        case .custom(let codes): codes.contains(statusCode)
        }
    }
}

extension ValidationType: CustomStringConvertible {
    /// The accepted statuses, at most eight of them.
    public var description: String {
        switch kind {
        case .anyStatus: "any status"
        case .successCodes: "200…299"
        case .successAndRedirectCodes: "200…399"
        case .custom(let codes) where codes.isEmpty: "no status"
        case .custom(let codes):
            codes.sorted().prefix(8).map(String.init).joined(separator: ", ") + (codes.count > 8 ? ", …" : "")
        }
    }
}
