/// Which statuses a target takes for success.
///
/// Validation is the last step of a call: plugins see a response of any status as a success.
public struct ValidationType: Sendable, Hashable {
    private enum Kind: Hashable {
        case none
        case successCodes
        case successAndRedirectCodes
        case custom(Set<Int>)
    }

    private let kind: Kind

    /// Any status is accepted.
    public static let none = ValidationType(kind: .none)

    /// 200 to 299.
    public static let successCodes = ValidationType(kind: .successCodes)

    /// 200 to 399.
    public static let successAndRedirectCodes = ValidationType(kind: .successAndRedirectCodes)

    /// Exactly these statuses; an empty list accepts any.
    public static func customCodes(_ codes: some Sequence<Int>) -> ValidationType {
        let set = Set(codes)
        return ValidationType(kind: set.isEmpty ? .none : .custom(set))
    }

    /// Whether a response of this status is a success.
    public func accepts(_ statusCode: Int) -> Bool {
        switch kind {
        case .none: true
        case .successCodes: (200..<300).contains(statusCode)
        case .successAndRedirectCodes: (200..<400).contains(statusCode)
        case .custom(let codes): codes.contains(statusCode)
        }
    }
}

extension ValidationType: CustomStringConvertible {
    /// The statuses; of many the first.
    public var description: String {
        switch kind {
        case .none: "any"
        case .successCodes: "200…299"
        case .successAndRedirectCodes: "200…399"
        case .custom(let codes):
            codes.sorted().prefix(8).map(String.init).joined(separator: ", ") + (codes.count > 8 ? ", …" : "")
        }
    }
}
