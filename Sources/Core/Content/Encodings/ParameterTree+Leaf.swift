import Foundation

extension ParameterTree {
    /// The reason why a value is rejected; the code that knows the value's path makes the error.
    struct Refusal: Error {
        /// The reason, as text after "is".
        let what: String
        let underlyingError: (any Error)?

        init(_ what: String, underlyingError: (any Error)? = nil) {
            self.what = what
            self.underlyingError = underlyingError
        }

        static func tooDeep(_ maximumDepth: Int) -> Refusal {
            Refusal("nested deeper than \(maximumDepth) levels")
        }
    }

    /// Returns the tree of a leaf value; `nil` for any other value.
    static func leaf(_ value: Any, dates: DateCodingStrategy.TextEncoding?) throws(Refusal) -> ParameterTree? {
        // Every Swift number casts to NSNumber and back, losing digits and kind: only the dynamic type distinguishes
        // them.
        if type(of: value) is AnyClass, let number = value as? NSNumber { return try leaf(number) }
        switch value {
        case let value as String: return .string(value)
        case let value as Substring: return .string(String(value))
        case let value as Date: return try leaf(value, dates)
        case let value as Data: return dates == nil ? .data(value) : .string(value.base64EncodedString())
        case let value as URL: return .string(value.absoluteString)
        case let value as UUID: return .string(value.uuidString)
        case let value as Bool: return .bool(value)
        case let value as Decimal: return try leaf(value)
        case let value as any BinaryInteger:
            guard let number = Decimal(string: String(value)) else { throw Refusal("too large a number") }
            return .number(number)
        case let value as Double: return try leaf(value)
        case let value as any BinaryFloatingPoint: return try leaf(Double("\(value)") ?? Double(value))
        default: return nil
        }
    }

    private static func leaf(_ date: Date, _ dates: DateCodingStrategy.TextEncoding?) throws(Refusal) -> ParameterTree {
        guard date.timeIntervalSince1970.isFinite else { throw Refusal("not a finite date") }
        guard let dates else { return .date(date) }
        do {
            return .string(try dates.text(date))
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw Refusal("a date that its encoding refused", underlyingError: error)
        }
    }

    private static func leaf(_ number: NSNumber) throws(Refusal) -> ParameterTree {
        if number is NSDecimalNumber { return try leaf(number.decimalValue) }
        return switch String(cString: number.objCType) {
        case "c" where (0...1).contains(number.intValue), "B": .bool(number.boolValue)
        case "d": try leaf(number.doubleValue)
        case "f": try leaf(Double("\(number.floatValue)") ?? number.doubleValue)
        case "Q": .number(Decimal(number.uint64Value))
        default: .number(Decimal(number.int64Value))
        }
    }

    private static func leaf(_ number: Decimal) throws(Refusal) -> ParameterTree {
        guard number.isFinite else { throw Refusal("not a finite number") }
        return .number(number)
    }

    private static func leaf(_ number: Double) throws(Refusal) -> ParameterTree {
        guard number.isFinite else { throw Refusal("not a finite number") }
        return .double(number)
    }
}
