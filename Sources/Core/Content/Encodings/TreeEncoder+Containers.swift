// The generic `encode` of each container also serves single types, except those of 128 bits, which the standard library
// rejects by default.

/// A container that writes the members of a place.
struct KeyedTreeContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: TreeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }

    private var isDictionary: Bool { ObjectIdentifier(Key.self) == TreeEncoder.dictionaryKeys }

    mutating func encodeNil(forKey key: Key) throws {
        set(.null, for: key)
    }

    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        set(try encoder.tree(of: value, at: key), for: key)
    }

    mutating func encode(_ value: Int128, forKey key: Key) throws {
        set(try encoder.tree(of: value, at: key), for: key)
    }

    mutating func encode(_ value: UInt128, forKey key: Key) throws {
        set(try encoder.tree(of: value, at: key), for: key)
    }

    private func set(_ tree: ParameterTree, for key: Key) {
        encoder.place.set(.tree(tree), for: key.stringValue, name: name(of: key), isOrdered: !isDictionary)
    }

    private func name(of key: any CodingKey) -> String {
        isDictionary ? key.stringValue : encoder.run.options.keys.name(key) { encoder.codingPath }
    }

    private func nested(_ key: any CodingKey) -> TreeEncoder {
        encoder.nested(at: key) {
            encoder.place.place(for: key.stringValue, name: name(of: key), isOrdered: !isDictionary)
        }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        nested(key).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        nested(AnyCodingKey(stringValue: "super"))
    }

    mutating func superEncoder(forKey key: Key) -> any Encoder {
        nested(key)
    }
}

/// A container that writes the elements of a place.
struct UnkeyedTreeContainer: UnkeyedEncodingContainer {
    let encoder: TreeEncoder

    var codingPath: [any CodingKey] { encoder.codingPath }
    var count: Int { encoder.place.elementCount }

    private var key: AnyCodingKey { AnyCodingKey(stringValue: String(count)) }

    mutating func encodeNil() throws {
        encoder.place.append(.tree(.null))
    }

    mutating func encode(_ value: some Encodable) throws {
        encoder.place.append(.tree(try encoder.tree(of: value, at: key)))
    }

    mutating func encode(_ value: Int128) throws {
        encoder.place.append(.tree(try encoder.tree(of: value, at: key)))
    }

    mutating func encode(_ value: UInt128) throws {
        encoder.place.append(.tree(try encoder.tree(of: value, at: key)))
    }

    private func nested() -> TreeEncoder {
        encoder.nested(at: key) { encoder.place.appendPlace() }
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        nested().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        nested().unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder {
        nested()
    }
}

/// The encoder is also the container that writes the single value of its place.
extension TreeEncoder: SingleValueEncodingContainer {
    mutating func encodeNil() throws {
        place.set(.null)
    }

    mutating func encode(_ value: some Encodable) throws {
        place.set(try tree(of: value, at: nil))
    }

    mutating func encode(_ value: Int128) throws {
        place.set(try tree(of: value, at: nil))
    }

    mutating func encode(_ value: UInt128) throws {
        place.set(try tree(of: value, at: nil))
    }
}
