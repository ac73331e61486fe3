import Foundation
import HTTPTypes

/// The form in which stores keep header fields: for each field its name and its value, each after its length as four
/// bytes.
extension HTTPFields {
    /// The bytes of a stored response.
    var stored: Data {
        var data = Data()
        func append(_ bytes: some Collection<UInt8>) {
            withUnsafeBytes(of: UInt32(clamping: bytes.count).littleEndian) { data.append(contentsOf: $0) }
            data.append(contentsOf: bytes)
        }
        for field in self {
            append(field.name.rawName.utf8)
            field.withUnsafeBytesOfValue { append($0) }
        }
        return data
    }

    /// Reads the bytes of a stored response; `nil` if they are damaged.
    init?(stored data: Data) {
        self.init()
        var rest = data[...]
        func next() -> Data? {
            guard rest.count >= 4 else { return nil }
            let count = rest.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(4)
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }
        while !rest.isEmpty {
            // The type of the fields stops the process beyond 65,535.
            guard self.count < 10_000, let text = next(), let value = next(),
                let name = HTTPField.Name(String(decoding: text, as: UTF8.self))
            else { return nil }
            append(HTTPField(name: name, lenientValue: value))
        }
    }
}

extension Date {
    init(milliseconds: Int) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// The milliseconds since 1970, within what databases and scripts store exactly.
    var milliseconds: Int {
        let value = (timeIntervalSince1970 * 1000).rounded()
        return value.isNaN ? 0 : Int(min(max(value, -9e15), 9e15))
    }
}
