/// The values written so far at one place of a tree.
///
/// It is a class because nested containers and super encoders keep writing to it after they have been handed out.
final class TreePlace {
    enum Value {
        case tree(ParameterTree)
        case place(TreePlace)
    }

    private struct Member {
        let name: String
        /// Whether the member keeps its position; members of a dictionary may be sorted.
        let isOrdered: Bool
        var value: Value
    }

    private var leaf: ParameterTree?
    private var elements: [Value]?
    private var members: [Member]?
    private var offsets: [String: Int] = [:]
    private(set) var elementCount = 0
    private let isDiscarding: Bool

    /// The key type of the most recent keyed container.
    var keys: ObjectIdentifier?

    /// - Parameter isDiscarding: whether written values are discarded.
    init(isDiscarding: Bool) {
        self.isDiscarding = isDiscarding
    }

    func set(_ tree: ParameterTree) {
        guard !isDiscarding else { return }
        leaf = tree
    }

    func beginElements() {
        elements = elements ?? []
    }

    func beginMembers() {
        members = members ?? []
    }

    func appendPlace() -> TreePlace {
        let place = TreePlace(isDiscarding: isDiscarding)
        append(.place(place))
        return place
    }

    func append(_ value: Value) {
        elementCount += 1
        guard !isDiscarding else { return }
        elements?.append(value)
    }

    /// Returns a place for a member, or the existing one if a container requests the same key again.
    func place(for key: String, name: String, isOrdered: Bool) -> TreePlace {
        if let offset = offsets[key], case .place(let place)? = members?[offset].value { return place }
        let place = TreePlace(isDiscarding: isDiscarding)
        set(.place(place), for: key, name: name, isOrdered: isOrdered)
        return place
    }

    /// Writes a member; a member with the same key is replaced in its position.
    func set(_ value: Value, for key: String, name: String, isOrdered: Bool) {
        guard !isDiscarding else { return }
        if let offset = offsets[key] {
            members?[offset].value = value
        } else {
            offsets[key] = members?.count
            members?.append(Member(name: name, isOrdered: isOrdered, value: value))
        }
    }

    // MARK: Reading

    /// Returns the written values; ``ParameterTree/null`` if there are none.
    func tree() throws(ParameterTree.Refusal) -> ParameterTree {
        switch (leaf, elements, members) {
        case (nil, nil, nil): return .null
        case (let leaf?, nil, nil): return leaf
        case (nil, let elements?, nil):
            var trees: [ParameterTree] = []
            for element in elements { trees.append(try Self.tree(of: element)) }
            return .array(trees)
        case (nil, nil, let members?): return .object(try Self.sorted(members))
        default: throw ParameterTree.Refusal("encoded in more than one form: as a single value, an array, an object")
        }
    }

    private static func tree(of value: Value) throws(ParameterTree.Refusal) -> ParameterTree {
        switch value {
        case .tree(let tree): tree
        case .place(let place): try place.tree()
        }
    }

    /// Returns the members in order; consecutive members of a dictionary are sorted.
    private static func sorted(
        _ members: [Member]
    ) throws(ParameterTree.Refusal) -> [(key: String, value: ParameterTree)] {
        var pairs: [(key: String, value: ParameterTree)] = []
        var start = 0
        for (offset, member) in members.enumerated() {
            pairs.append((member.name, try tree(of: member.value)))
            let isEnd = offset + 1 == members.count || members[offset + 1].isOrdered
            if member.isOrdered {
                start = offset + 1
            } else if isEnd {
                pairs[start...].sort { $0.key < $1.key }
            }
        }
        return pairs
    }
}
