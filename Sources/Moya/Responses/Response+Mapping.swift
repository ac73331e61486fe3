public import Foundation

extension Response {
    /// Returns the body as JSON.
    ///
    /// - Parameter failsOnEmptyData: whether an empty body is an error; if not, it is `NSNull`.
    /// - Returns: a dictionary, an array or a fragment.
    /// - Throws: ``MoyaError/jsonMapping(_:)``.
    public func mapJSON(failsOnEmptyData: Bool = true) throws -> Any {
        if data.isEmpty, !failsOnEmptyData { return NSNull() }
        do {
            return try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        } catch {
            throw MoyaError.jsonMapping(self)
        }
    }

    /// Returns the body, or the text at a key path of its JSON, as text.
    ///
    /// - Parameter keyPath: the names of members, separated by full stops; `nil` for the whole body.
    /// - Returns: the text.
    /// - Throws: ``MoyaError/stringMapping(_:)`` if the body is not UTF-8 or there is no text at the key path,
    ///   ``MoyaError/jsonMapping(_:)`` if the body is not JSON.
    public func mapString(atKeyPath keyPath: String? = nil) throws -> String {
        let text = try keyPath.map { try member(at: $0) as? String } ?? String(data: data, encoding: .utf8)
        guard let text, keyPath == nil || !data.isEmpty else { throw MoyaError.stringMapping(self) }
        return text
    }

    /// Returns the body, or the value at a key path of its JSON, as a value of a type.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - keyPath: the names of members, separated by full stops; `nil` for the whole body.
    ///   - decoder: the decoder of the value.
    ///   - failsOnEmptyData: whether an empty body is an error; if not, it decodes like `{}`, else like `[{}]`.
    /// - Returns: the decoded value.
    /// - Throws: ``MoyaError/objectMapping(_:_:)`` if the value cannot be decoded, ``MoyaError/jsonMapping(_:)`` if
    ///   there is no value at the key path.
    public func map<D: Decodable>(
        _ type: D.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder = JSONDecoder(),
        failsOnEmptyData: Bool = true
    ) throws -> D {
        if data.isEmpty, !failsOnEmptyData {
            for text in ["{}", "[{}]"] {
                if let value = try? decoder.decode(D.self, from: Data(text.utf8)) { return value }
            }
        }
        let json = try keyPath.map { try jsonData(at: $0) } ?? data
        do {
            return try decoder.decode(D.self, from: json)
        } catch {
            throw MoyaError.objectMapping(error, self)
        }
    }

    private func jsonData(at keyPath: String) throws -> Data {
        guard let value = try member(at: keyPath),
            let json = try? JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
        else { throw MoyaError.jsonMapping(self) }
        return json
    }

    /// Returns the value at a key path; `nil` if a member is missing.
    private func member(at keyPath: String) throws -> Any? {
        keyPath.split(separator: ".").reduce(try mapJSON() as Any?) { value, name in
            (value as? [String: Any])?[String(name)]
        }
    }
}
