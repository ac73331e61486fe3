import Foundation

/// An encoder that turns a value into a ``ParameterTree``, with members in the order in which they are encoded.
///
/// Dictionaries have no order: they are recognized by the type of their keys, and sorted. Sets, and dictionaries that
/// encode as arrays, are sorted as well.
struct TreeEncoder: Encoder {
    /// The settings of one encoding.
    struct Options {
        var dates = DateCodingStrategy.TextEncoding.iso8601
        var keys = URLFormEncoder.KeyEncoding.useDefaultKeys
        var maximumDepth = ParameterTree.maximumDepth
        /// Whether only the depth is checked.
        var isDiscarding = false
        /// Whether bytes and files keep their types, for a multipart form.
        var keepsFiles = false
        var userInfo: [CodingUserInfoKey: Any] = [:]
    }

    /// The settings and the state of one encoding.
    final class Run {
        let options: Options
        /// The error of a nested container that is too deep, because making a container cannot throw.
        fileprivate(set) var failure: PipelineError?

        init(_ options: Options) {
            self.options = options
        }
    }

    /// The coding path of a place.
    final class Path {
        let parent: Path?
        let key: any CodingKey
        let count: Int

        init(_ key: any CodingKey, after parent: Path?) {
            self.parent = parent
            self.key = key
            count = (parent?.count ?? 0) + 1
        }

        var keys: [any CodingKey] { (parent?.keys ?? []) + [key] }
    }

    let run: Run
    let place: TreePlace
    let path: Path?
    /// The number of nested single values here: wrappers add no key, and may wrap themselves.
    let wrapperCount: Int

    var codingPath: [any CodingKey] { path?.keys ?? [] }
    var userInfo: [CodingUserInfoKey: Any] { run.options.userInfo }

    private init(_ run: Run, _ place: TreePlace, path: Path?, wrapperCount: Int) {
        self.run = run
        self.place = place
        self.path = path
        self.wrapperCount = wrapperCount
    }

    private init(_ options: Options) {
        self.init(Run(options), TreePlace(isDiscarding: options.isDiscarding), path: nil, wrapperCount: 0)
    }

    /// Returns the tree of a value.
    static func tree(of value: some Encodable, _ options: Options) throws -> ParameterTree {
        let encoder = TreeEncoder(options)
        let tree = try encoder.tree(of: value, at: nil)
        if let failure = encoder.run.failure { throw failure }
        return tree
    }

    /// The type of the keys with which the standard library encodes a dictionary.
    ///
    /// It is taken from a dictionary, because the type has no public name.
    static let dictionaryKeys: ObjectIdentifier? = {
        let encoder = TreeEncoder(Options())
        try? [String: Int]().encode(to: encoder)
        return encoder.place.keys
    }()

    private static let leafTypes: Set<ObjectIdentifier> = [
        ObjectIdentifier(String.self), ObjectIdentifier(Bool.self), ObjectIdentifier(Double.self),
        ObjectIdentifier(Float.self), ObjectIdentifier(Decimal.self), ObjectIdentifier(Date.self),
        ObjectIdentifier(Data.self), ObjectIdentifier(URL.self), ObjectIdentifier(UUID.self),
        ObjectIdentifier(Int.self), ObjectIdentifier(Int8.self), ObjectIdentifier(Int16.self),
        ObjectIdentifier(Int32.self), ObjectIdentifier(Int64.self), ObjectIdentifier(Int128.self),
        ObjectIdentifier(UInt.self), ObjectIdentifier(UInt8.self), ObjectIdentifier(UInt16.self),
        ObjectIdentifier(UInt32.self), ObjectIdentifier(UInt64.self), ObjectIdentifier(UInt128.self),
    ]

    /// Returns the tree of a value under a key of this place, or of the place's own value if `key` is `nil`.
    ///
    /// The key is an autoclosure because most values are leaves and never need it.
    func tree<Value: Encodable>(of value: Value, at key: @autoclosure () -> (any CodingKey)?) throws -> ParameterTree {
        do {
            let isLeaf =
                Self.leafTypes.contains(ObjectIdentifier(Value.self))
                || run.options.keepsFiles && Value.self == FormFile.self
            if isLeaf, let leaf = try leaf(value, at: key()) {
                return leaf
            }
            let inner = try inner(at: key())
            try value.encode(to: inner)
            if run.options.isDiscarding { return .null }
            let tree = try inner.place.tree()
            return (Value.self as? any HashOrdered.Type).map { $0.sorted(tree) } ?? tree
        } catch let refusal as ParameterTree.Refusal {
            throw failure(refusal, at: key())
        }
    }

    private func leaf(_ value: some Encodable, at key: @autoclosure () -> (any CodingKey)?) throws -> ParameterTree? {
        guard (path?.count ?? 0) < run.options.maximumDepth || key() == nil else {
            throw ParameterTree.Refusal.tooDeep(run.options.maximumDepth)
        }
        if run.options.isDiscarding { return .null }
        if run.options.keepsFiles {
            if let file = value as? FormFile { return .file(file) }
            if let bytes = value as? Data { return .data(bytes) }
        }
        return try ParameterTree.leaf(value, dates: run.options.dates)
    }

    private func inner(at key: (any CodingKey)?) throws -> TreeEncoder {
        let place = TreePlace(isDiscarding: run.options.isDiscarding)
        let inner =
            if let key {
                TreeEncoder(run, place, path: Path(key, after: path), wrapperCount: 0)
            } else {
                TreeEncoder(run, place, path: path, wrapperCount: wrapperCount + 1)
            }
        guard max(inner.path?.count ?? 0, inner.wrapperCount) <= run.options.maximumDepth else {
            throw ParameterTree.Refusal.tooDeep(run.options.maximumDepth)
        }
        return inner
    }

    /// Returns an encoder for a nested place.
    func nested(at key: any CodingKey, _ makePlace: () -> TreePlace) -> TreeEncoder {
        guard (path?.count ?? 0) < run.options.maximumDepth else {
            if run.failure == nil { run.failure = failure(.tooDeep(run.options.maximumDepth), at: key) }
            return TreeEncoder(run, TreePlace(isDiscarding: true), path: Path(key, after: path), wrapperCount: 0)
        }
        return TreeEncoder(run, makePlace(), path: Path(key, after: path), wrapperCount: 0)
    }

    private func failure(_ refusal: ParameterTree.Refusal, at key: (any CodingKey)?) -> PipelineError {
        let path = (codingPath + (key.map { [$0] } ?? [])).map(\.stringValue)
        // The first keys of a deep path identify it well enough.
        let names = path.count > run.options.maximumDepth ? Array(path.prefix(4)) : path
        let name = names.isEmpty ? "" : " at " + names.joined(separator: ".").quotedExcerpt
        return PipelineError(
            .encoding,
            "the value\(name) is \(refusal.what)",
            underlyingError: refusal.underlyingError
        )
    }

    // MARK: Containers

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        place.keys = ObjectIdentifier(type)
        place.beginMembers()
        return KeyedEncodingContainer(KeyedTreeContainer(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        place.beginElements()
        return UnkeyedTreeContainer(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        self
    }
}

/// A collection that encodes as an array in hash order.
private protocol HashOrdered {
    /// Returns the tree in an order that is the same in every run.
    static func sorted(_ tree: ParameterTree) -> ParameterTree
}

extension Set: HashOrdered {
    fileprivate static func sorted(_ tree: ParameterTree) -> ParameterTree {
        guard case .array(let elements) = tree else { return tree }
        return .array(elements.map { (SortKey($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1))
    }
}

extension Dictionary: HashOrdered {
    /// Keys that are neither text nor integers precede their values in an array.
    fileprivate static func sorted(_ tree: ParameterTree) -> ParameterTree {
        guard case .array(let elements) = tree else { return tree }
        let starts = stride(from: 0, to: elements.count, by: 2).map { (SortKey(elements[$0]), $0) }
        return .array(starts.sorted { $0.0 < $1.0 }.flatMap { elements[$0.1..<Swift.min($0.1 + 2, elements.count)] })
    }
}

/// A sort key that orders numbers by value, then everything else by its text.
private struct SortKey: Comparable {
    private let number: Double
    private let text: String

    init(_ tree: ParameterTree) {
        number =
            switch tree {
            case .number(let value): NSDecimalNumber(decimal: value).doubleValue
            case .double(let value): value
            default: .infinity
            }
        text = ParameterTree.object([("", tree)]).formText(arrays: .indexInBrackets, booleans: .numeric)
    }

    static func < (left: SortKey, right: SortKey) -> Bool {
        (left.number, left.text) < (right.number, right.text)
    }
}
