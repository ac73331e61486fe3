import Foundation

/// Parameters without their Swift types, from which every encoding writes.
enum ParameterTree {
    case null
    case bool(Bool)
    case number(Decimal)
    case double(Double)
    case string(String)
    /// Only in the tree of an encoding that has its own date type.
    case date(Date)
    /// Only in the tree of an encoding that has its own type for bytes.
    case data(Data)
    /// Only in the tree of a form with files.
    case file(FormFile)
    case array([ParameterTree])
    /// The members in the order in which they are written.
    case object([(key: String, value: ParameterTree)])

    /// The maximum nesting depth.
    static let maximumDepth = 64

    /// Makes the tree of parameters, with every object sorted by key; `nil` omits a key, `NSNull` becomes ``null``.
    ///
    /// Dates and bytes become text. If `dates` is `nil`, they keep their types.
    init(_ parameters: RequestParameters, dates: DateCodingStrategy.TextEncoding?) throws {
        self = .object(try Self.members(parameters.lazy.map { ($0.key, $0.value as Any) }, dates, path: []))
    }

    private static func members(
        _ pairs: some Sequence<(String, Any)>,
        _ dates: DateCodingStrategy.TextEncoding?,
        path: [String]
    ) throws -> [(key: String, value: ParameterTree)] {
        var members: [(key: String, value: ParameterTree)] = []
        for (key, value) in pairs {
            guard let tree = try make(value, dates, path: path + [key]) else { continue }
            members.append((key, tree))
        }
        return members.sorted { $0.key < $1.key }
    }

    /// Returns `nil` for an optional without a value.
    private static func make(
        _ value: Any,
        _ dates: DateCodingStrategy.TextEncoding?,
        path: [String]
    ) throws -> ParameterTree? {
        guard path.count <= maximumDepth else {
            throw failure(.tooDeep(maximumDepth), path: Array(path.prefix(4)))
        }
        // These are not Sendable, and reading an element bridges all its contents: one that contains itself would never
        // end.
        if type(of: value) is AnyClass, value is NSArray || value is NSDictionary {
            throw failure(Refusal("of type \(type(of: value)), which has no text form"), path: path)
        }
        if let value = value as? any OptionalValue {
            guard let wrapped = value.wrappedValue else { return nil }
            return try make(wrapped, dates, path: path)
        }
        do throws(Refusal) {
            if let leaf = try leaf(value, dates: dates) { return leaf }
        } catch {
            throw failure(error, path: path)
        }
        switch value {
        case is NSNull:
            return .null
        case let value as [String: Any]:
            return .object(try members(value.lazy.map { ($0.key, $0.value) }, dates, path: path))
        case let value as [Any]:
            return .array(
                try value.enumerated().map { offset, element in
                    try make(element, dates, path: path + [String(offset)]) ?? .null
                }
            )
        case let value as any RawRepresentable:
            return try make(value.rawValue, dates, path: path)
        default:
            throw failure(Refusal("of type \(type(of: value)), which has no text form"), path: path)
        }
    }

    /// Makes the error for a rejected parameter.
    static func failure(_ refusal: Refusal, path: [String]) -> PipelineError {
        PipelineError(
            .encoding,
            "the parameter \(path.joined(separator: ".").quotedExcerpt) is \(refusal.what)",
            underlyingError: refusal.underlyingError
        )
    }
}

/// Detects an optional inside an `Any`.
protocol OptionalValue {
    var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
    var wrappedValue: Any? { self }
}
