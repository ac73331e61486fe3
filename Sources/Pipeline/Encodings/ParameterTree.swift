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
        case let value as Substring:
            return .string(String(value))
        case let value as Date:
            return .string(try text(of: value, dates, path: path))
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

    private static func text(of date: Date, _ dates: DateTextEncoding, path: [String]) throws -> String {
        guard date.timeIntervalSince1970.isFinite else { throw failure("not a finite date", path: path) }
        do {
            return try dates.text(for: date)
        } catch {
            throw failure("a date that its encoding refused", path: path, error)
        }
    }

    private static func makeScalar(_ value: Any, _ dates: DateTextEncoding, path: [String]) throws -> ParameterTree? {
        // Every Swift number casts to NSNumber and back, losing digits and kind: only the dynamic type tells them apart.
        if type(of: value) is AnyClass, let number = value as? NSNumber { return try makeNumber(number, path: path) }
        switch value {
        case let value as Bool:
            return .bool(value)
        case let value as Decimal:
            return try makeDecimal(value, path: path)
        case let value as any BinaryInteger:
            guard let number = Decimal(string: String(value)) else { throw failure("too large a number", path: path) }
            return .number(number)
        case let value as Double:
            return try makeDouble(value, path: path)
        case let value as any BinaryFloatingPoint:
            return try makeDouble(Double("\(value)") ?? Double(value), path: path)
        case let value as any RawRepresentable:
            return try make(value.rawValue, dates, path: path)
        default:
            throw failure("of type \(type(of: value)), which has no text form", path: path)
        }
    }

    private static func makeNumber(_ value: NSNumber, path: [String]) throws -> ParameterTree {
        if value is NSDecimalNumber { return try makeDecimal(value.decimalValue, path: path) }
        return switch String(cString: value.objCType) {
        case "c" where (0...1).contains(value.intValue), "B": .bool(value.boolValue)
        case "d": try makeDouble(value.doubleValue, path: path)
        case "f": try makeDouble(Double("\(value.floatValue)") ?? value.doubleValue, path: path)
        case "Q": .number(Decimal(value.uint64Value))
        default: .number(Decimal(value.int64Value))
        }
    }

    private static func makeDecimal(_ value: Decimal, path: [String]) throws -> ParameterTree {
        guard value.isFinite else { throw failure("not a finite number", path: path) }
        return .number(value)
    }

    private static func makeDouble(_ value: Double, path: [String]) throws -> ParameterTree {
        guard value.isFinite else { throw failure("not a finite number", path: path) }
        return .double(value)
    }

    private static func failure(_ what: String, path: [String], _ error: (any Error)? = nil) -> PipelineError {
        let name = path.joined(separator: ".").quotedExcerpt
        return PipelineError(.encoding, "the parameter \(name) is \(what)", underlyingError: error)
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
