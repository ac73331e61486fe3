import Foundation

/// Parameters with the types taken off: what every parameter encoding writes from.
enum ParameterTree {
    case null
    case bool(Bool)
    case number(Decimal)
    case double(Double)
    case string(String)
    case array([ParameterTree])
    /// Sorted by key.
    case object([(key: String, value: ParameterTree)])

    private static let maximumDepth = 64

    /// The tree of parameters; `nil` drops a key, `NSNull` stays as ``null``.
    init(_ parameters: RequestParameters, dates: DateTextEncoding) throws {
        self = .object(try Self.members(parameters.lazy.map { ($0.key, $0.value as Any) }, dates, path: []))
    }

    private static func members(
        _ pairs: some Sequence<(String, Any)>,
        _ dates: DateTextEncoding,
        path: [String]
    ) throws -> [(key: String, value: ParameterTree)] {
        var members: [(key: String, value: ParameterTree)] = []
        for (key, value) in pairs {
            guard let tree = try make(value, dates, path: path + [key]) else { continue }
            members.append((key, tree))
        }
        return members.sorted { $0.key < $1.key }
    }

    /// `nil` for an optional without a value.
    private static func make(_ value: Any, _ dates: DateTextEncoding, path: [String]) throws -> ParameterTree? {
        guard path.count <= maximumDepth else {
            throw failure("nested deeper than \(maximumDepth) levels", path: Array(path.prefix(4)))
        }
        switch value {
        case let value as any OptionalValue:
            guard let wrapped = value.wrappedValue else { return nil }
            return try make(wrapped, dates, path: path)
        case is NSNull:
            return .null
        case let value as String:
            return .string(value)
        case let value as Date:
            return .string(try dates.text(for: value))
        case let value as Data:
            return .string(value.base64EncodedString())
        case let value as URL:
            return .string(value.absoluteString)
        case let value as UUID:
            return .string(value.uuidString)
        case let value as [String: Any]:
            return .object(try members(value.lazy.map { ($0.key, $0.value) }, dates, path: path))
        case let value as [Any]:
            return .array(
                try value.enumerated().map { offset, element in
                    try make(element, dates, path: path + [String(offset)]) ?? .null
                }
            )
        default:
            return try makeScalar(value, dates, path: path)
        }
    }

    private static func makeScalar(_ value: Any, _ dates: DateTextEncoding, path: [String]) throws -> ParameterTree? {
        switch value {
        case let value as NSNumber
        where type(of: value as Any) is AnyClass && !(type(of: value) is NSDecimalNumber.Type):
            return try makeNumber(value, path: path)
        case let value as Bool:
            return .bool(value)
        case let value as Decimal:
            guard value.isFinite else { throw failure("not a finite number", path: path) }
            return .number(value)
        case let value as any BinaryInteger:
            guard let number = Decimal(string: String(value)) else { throw failure("too large a number", path: path) }
            return .number(number)
        case let value as any BinaryFloatingPoint:
            return try makeDouble(Double(value), path: path)
        case let value as any RawRepresentable:
            return try make(value.rawValue, dates, path: path)
        default:
            throw failure("of type \(type(of: value)), which has no text form", path: path)
        }
    }

    private static func makeNumber(_ value: NSNumber, path: [String]) throws -> ParameterTree {
        switch String(cString: value.objCType) {
        case "c", "B": .bool(value.boolValue)
        case "f", "d": try makeDouble(value.doubleValue, path: path)
        default: .number(value.decimalValue)
        }
    }

    private static func makeDouble(_ value: Double, path: [String]) throws -> ParameterTree {
        guard value.isFinite else { throw failure("not a finite number", path: path) }
        return .double(value)
    }

    private static func failure(_ what: String, path: [String]) -> PipelineError {
        PipelineError(.encoding, "the parameter \(path.joined(separator: ".").quotedExcerpt) is \(what)")
    }

    /// A double without the `.0` of a whole one, the same on every platform.
    static func text(of value: Double) -> String {
        Int64(exactly: value).map(String.init) ?? "\(value)"
    }
}

/// Sees through `Any` whether a value is an optional.
private protocol OptionalValue {
    var wrappedValue: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrappedValue: Any? { self }
}
