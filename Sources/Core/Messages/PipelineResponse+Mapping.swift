public import Foundation
import HTTPTypes

extension PipelineResponse {
    /// Returns the body as a JSON value: a dictionary, array, string, number or `NSNull`, any of them at the top level.
    ///
    /// - Parameter failsOnEmptyData: whether an empty body is an error; if `false`, it is `NSNull`.
    /// - Returns: the value as `JSONSerialization` reads it.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/mapping(_:)`` (`.json`) and the
    ///   response.
    public func mapJSON(failsOnEmptyData: Bool = true) throws -> Any {
        if data.isEmpty, !failsOnEmptyData { return NSNull() }
        do {
            return try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        } catch {
            throw mappingFailure(.json, "the body is \(data.isEmpty ? emptyText : "not JSON")", error)
        }
    }

    /// Returns the body as text in the charset of its Content-Type, which defaults to UTF-8.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/mapping(_:)`` (`.string`) and the
    ///   response.
    public func mapString() throws -> String {
        let charset = MediaType(headers[.contentType] ?? "").charset
        guard let encoding = MediaType.encoding(ofCharset: charset ?? "utf-8") else {
            throw mappingFailure(.string, "the charset \((charset ?? "").quotedExcerpt) is not known")
        }
        guard let text = String(data: data, encoding: encoding) else {
            throw mappingFailure(.string, "the body is not text in \((charset ?? "utf-8").quotedExcerpt)")
        }
        return text
    }

    /// Returns a string from the body's JSON.
    ///
    /// - Parameter keyPath: the path to the string, as in ``map(_:atKeyPath:using:failsOnEmptyData:)``.
    /// - Returns: the string.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/mapping(_:)`` and the response: `.json`
    ///   if the body is not JSON, `.keyPath` if there is nothing at the path, `.string` if the value is not a string.
    public func mapString(atKeyPath keyPath: String) throws -> String {
        guard case .string(let text) = try tree(atKeyPath: keyPath) else {
            throw mappingFailure(.string, "the value at \(keyPath.quotedExcerpt) is not a string")
        }
        return text
    }

    /// Decodes the body, or a part of its JSON.
    ///
    /// Values are not converted: `1` does not decode to a `Bool`, nor `"1"` to an `Int`.
    ///
    /// - Parameters:
    ///   - type: the type to decode.
    ///   - keyPath: the path to the value: member names as in the JSON and array indices, joined by periods. Names that
    ///     contain periods are found too. `nil` for the whole body.
    ///   - decoder: the decoder; `nil` for that of the provider that returned the response, see
    ///     ``ProviderConfiguration/Coders``.
    ///   - failsOnEmptyData: whether an empty body is an error; if `false`, it decodes as `{}` or, if that fails, as
    ///     `[]`. Ignored with a key path.
    /// - Returns: the decoded value.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/mapping(_:)`` and the response:
    ///   `.object` if the value does not decode; with a key path, `.json` if the body is not JSON and `.keyPath` if
    ///   there is nothing at the path. The error names declared keys and indices, never a dictionary's key or a value.
    ///   If a declared key is missing and the JSON has its snake-case name, the error suggests the decoder's
    ///   `keyDecodingStrategy`.
    public func map<Value: Decodable>(
        _ type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder? = nil,
        failsOnEmptyData: Bool = true
    ) throws -> Value {
        let decoder = decoder ?? jsonDecoder(for: type)
        if data.isEmpty, !failsOnEmptyData, keyPath == nil {
            if let value = try? decoder.decode(type, from: Data("{}".utf8)) { return value }
            if let value = try? decoder.decode(type, from: Data("[]".utf8)) { return value }
        }
        var json = data
        do {
            if let keyPath { json = try JSONEncoder().encode(try tree(atKeyPath: keyPath)) }
            return try decoder.decode(type, from: json)
        } catch let error as PipelineError {
            throw error
        } catch {
            let place = data.isEmpty ? ": it is \(emptyText)" : Self.place(of: error, in: json)
            throw mappingFailure(.object, "the body does not decode to \(type)\(place)", error)
        }
    }

    /// Returns a decoder of the provider's coders.
    func jsonDecoder(for type: any Decodable.Type) -> JSONDecoder {
        (coders?.coders ?? .standard).jsonDecoder(for: type)
    }

    /// The description of an empty body in an error.
    package var emptyText: String { "empty" + (emptyBodyReason.map { ": \($0)" } ?? "") }

    private func tree(atKeyPath keyPath: String) throws -> ParameterTree {
        let root: ParameterTree
        do {
            root = try JSONDecoder().decode(ParameterTree.self, from: data)
        } catch {
            throw mappingFailure(.json, "the body is \(data.isEmpty ? emptyText : "not JSON")", error)
        }
        guard let found = root.value(at: keyPath[...]) else {
            throw mappingFailure(.keyPath, "there is nothing at \(keyPath.quotedExcerpt)")
        }
        return found
    }

    private func mappingFailure(
        _ mapping: PipelineError.Code.Mapping,
        _ reason: String,
        _ underlyingError: (any Error)? = nil
    ) -> PipelineError {
        PipelineError(.mapping(mapping), reason, response: self, underlyingError: underlyingError)
    }

    /// Returns where decoding failed, without the value at that place.
    static func place(of error: any Error, in data: Data) -> String {
        let (what, context): (String, DecodingError.Context)
        var hint = ""
        switch error {
        case DecodingError.typeMismatch(let type, let mismatch):
            let found = ParameterTree(of: data, at: mismatch.codingPath).map { ", found \($0.kind)" } ?? ""
            (what, context) = ("expected \(kind(of: type))\(found)", mismatch)
        case DecodingError.valueNotFound(let type, let found): (what, context) = ("null instead of \(type)", found)
        case DecodingError.keyNotFound(let key, let found):
            (what, context) = ("no member \(key.stringValue.quotedExcerpt)", found)
            hint = ForgottenKeyStrategy.hint(missing: key, at: found.codingPath, in: data)
        case DecodingError.dataCorrupted(let found):
            if found.debugDescription == DateCodingStrategy.notISO8601 {
                (what, context) = ("expected a date in ISO 8601", found)
                hint = "; for dates in another form, set dateDecodingStrategy of the provider's coders"
                break
            }
            let isJSON = (try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)) != nil
            // Often the page of a proxy.
            let isMarkup = data.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
            what = isJSON ? "invalid data" : isMarkup ? "it is HTML or XML, not JSON" : "it is not JSON"
            context = found
        default: return ""
        }
        let path = context.codingPath.map(name(of:)).joined(separator: ".")
        return ": \(what)" + (path.isEmpty ? "" : " at \(path.quotedExcerpt)") + hint
    }

    /// Returns the JSON form of a type that a value was not, such as "an array" for `Array<Any>`.
    private static func kind(of type: any Any.Type) -> String {
        switch type {
        case is [Any].Type: "an array"
        case is [String: Any].Type: "an object"
        default: "\(type)"
        }
    }

    /// Returns a declared key or an index; a dictionary's key is part of the body and stays hidden.
    private static func name(of key: any CodingKey) -> String {
        guard Mirror(reflecting: key).displayStyle == .enum else { return "*" }
        // Foundation's own keys: an index has an integer value, a dictionary's key does not.
        guard "\(Swift.type(of: key))".hasPrefix("_") else { return key.stringValue }
        return key.intValue.map(String.init) ?? "*"
    }
}
