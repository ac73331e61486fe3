import PipelineCore

/// The values in two JSON documents that differ, each with its path.
struct JSONDifference {
    /// A value, and whether it has a secret name.
    struct Node {
        let value: JSONNode
        let isSecret: Bool
    }

    /// Two values with the same path, one of which may be missing.
    struct Item {
        /// For example `$.items[2].name`; `$` is the document.
        let path: String
        let first: Node?
        let second: Node?
    }

    private let redactor: Redactor
    /// The differences, in the order of the first document.
    ///
    /// Members and elements only in the second follow those of the first.
    private(set) var items: [Item] = []

    init(_ first: JSONNode, _ second: JSONNode, redactor: Redactor) {
        self.redactor = redactor
        compare(first, second, at: "$")
    }

    private mutating func compare(_ first: JSONNode, _ second: JSONNode, at path: String) {
        switch (first, second) {
        case (.object(let members), .object(let others)): compare(members, others, at: path)
        case (.array(let elements), .array(let others)): compare(elements, others, at: path)
        default: add(path, first, second, isSecret: false)
        }
    }

    private mutating func compare(_ elements: [JSONNode], _ others: [JSONNode], at path: String) {
        for index in 0..<max(elements.count, others.count) {
            let place = "\(path)[\(index)]"
            if index < min(elements.count, others.count) {
                compare(elements[index], others[index], at: place)
            } else {
                add(
                    place,
                    index < elements.count ? elements[index] : nil,
                    index < others.count ? others[index] : nil,
                    isSecret: false
                )
            }
        }
    }

    private mutating func compare(_ members: [JSONNode.Member], _ others: [JSONNode.Member], at path: String) {
        // If a name is repeated, the last member counts.
        let first = Dictionary(members.map { ($0.name, $0.value) }) { $1 }
        let second = Dictionary(others.map { ($0.name, $0.value) }) { $1 }
        var seen: Set<String> = []
        for name in (members + others).map(\.name) where seen.insert(name).inserted {
            let place = path + step(name)
            if isSecret(name, first[name]) || isSecret(name, second[name]) {
                add(place, first[name], second[name], isSecret: true)
            } else if let one = first[name], let other = second[name] {
                compare(one, other, at: place)
            } else {
                add(place, first[name], second[name], isSecret: false)
            }
        }
    }

    private mutating func add(_ path: String, _ first: JSONNode?, _ second: JSONNode?, isSecret: Bool) {
        guard first != second else { return }
        func node(_ value: JSONNode) -> Node { Node(value: value, isSecret: isSecret && value != .null) }
        items.append(Item(path: path, first: first.map(node), second: second.map(node)))
    }

    private func isSecret(_ name: String, _ value: JSONNode?) -> Bool {
        guard let value, value != .null else { return false }
        let place: SecretPlaces = if case .string = value { .textMember } else { .member }
        return redactor.isSecret(name: name, in: place)
    }

    /// Returns the step of a path to a member, `.name` or `["a name"]`.
    private func step(_ name: String) -> String {
        let shown = RecordingTable.visible(redactor.text(name))
        let isPlain = !shown.isEmpty && shown.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
        return isPlain ? "." + shown : "[\(shown.debugDescription)]"
    }
}
