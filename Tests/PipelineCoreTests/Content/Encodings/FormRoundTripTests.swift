import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("Form round trips", .watched)
struct FormRoundTripTests {
    /// Text, lists and objects whose members keep their order.
    indirect enum Tree: Encodable, Equatable, Sendable {
        struct Member: Equatable, Sendable {
            let key: String
            let value: Tree
        }

        case text(String)
        case list([Tree])
        case object([Member])

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .text(let text):
                var container = encoder.singleValueContainer()
                try container.encode(text)
            case .list(let elements):
                var container = encoder.unkeyedContainer()
                for element in elements { try container.encode(element) }
            case .object(let members):
                var container = encoder.container(keyedBy: URLFormEncoderKeyEncodingTests.Key.self)
                for member in members { try container.encode(member.value, forKey: .init(stringValue: member.key)) }
            }
        }

        /// The same tree as parameters.
        var parameters: any Sendable {
            switch self {
            case .text(let text): text
            case .list(let elements): elements.map(\.parameters)
            case .object(let members):
                Dictionary(members.map { ($0.key, $0.value.parameters) }) { first, _ in first }
            }
        }

        var sorted: Tree {
            switch self {
            case .text: self
            case .list(let elements): .list(elements.map(\.sorted))
            case .object(let members):
                .object(members.map { Member(key: $0.key, value: $0.value.sorted) }.sorted { $0.key < $1.key })
            }
        }
    }

    enum Style: CaseIterable {
        case brackets
        case noBrackets
        case indices
        case dots

        var encoding: URLEncoding.ArrayEncoding {
            switch self {
            case .brackets: .brackets
            case .noBrackets: .noBrackets
            case .indices: .indexInBrackets
            case .dots: .custom { "\($0)[.\($1)]" }
            }
        }

        /// Whether lists may contain any value, because each element has its own name.
        var isExact: Bool { self == .indices || self == .dots }
    }

    static func tree(_ random: inout PipelineRandom, _ style: Style, depth: Int = 0) -> Tree {
        switch Int.random(in: 0...(depth == 0 ? 0 : depth > 3 ? 1 : 3), using: &random) {
        case 0 where depth == 0, 3:
            var members: [Tree.Member] = []
            for number in 0..<Int.random(in: 1...4, using: &random) {
                // Brackets in a key look like nesting, and digits look like an index.
                let text = String(random.makeString(upTo: 6).unicodeScalars.filter { $0 != "[" && $0 != "]" })
                let key = "k\(Int.random(in: 0...99, using: &random)).\(number)" + text
                members.append(.init(key: key, value: tree(&random, style, depth: depth + 1)))
            }
            return .object(members)
        case 2 where style.isExact:
            return .list(
                (0..<Int.random(in: 1...3, using: &random)).map { _ in tree(&random, style, depth: depth + 1) }
            )
        case 2:
            let count = Int.random(in: (style == .noBrackets ? 2 : 1)...3, using: &random)
            return .list((0..<count).map { _ in .text(random.makeString(upTo: 6)) })
        default:
            return .text(random.makeString(upTo: 12))
        }
    }

    // MARK: Reading

    struct Pair {
        var path: ArraySlice<String>
        let value: String
    }

    static func parse(_ text: String, _ style: Style) throws -> Tree {
        let pairs = try text.split(separator: "&", omittingEmptySubsequences: false).map { pair in
            let parts = pair.split(separator: "=", omittingEmptySubsequences: false)
            try #require(parts.count == 2)
            let name = try #require(String(parts[0]).removingPercentEncoding)
            var path = name.unicodeScalars.split(separator: "[", omittingEmptySubsequences: false).map(String.init)
            for index in path.indices.dropFirst() {
                try #require(path[index].unicodeScalars.last == "]")
                path[index].unicodeScalars.removeLast()
            }
            return Pair(path: path[...], value: try #require(String(parts[1]).removingPercentEncoding))
        }
        return try build(pairs, style)
    }

    private static func build(_ pairs: [Pair], _ style: Style) throws -> Tree {
        guard let first = pairs.first?.path.first else {
            return pairs.count == 1 ? .text(pairs[0].value) : .list(pairs.map { .text($0.value) })
        }
        if first.isEmpty { return .list(pairs.map { .text($0.value) }) }
        var groups: [(key: String, pairs: [Pair])] = []
        for pair in pairs {
            let inner = Pair(path: pair.path.dropFirst(), value: pair.value)
            let key = try #require(pair.path.first)
            if groups.last?.key == key {
                groups[groups.count - 1].pairs.append(inner)
            } else {
                groups.append((key, [inner]))
            }
        }
        if first.unicodeScalars.first != "k" {
            let indices = groups.indices.map { style == .dots ? ".\($0)" : "\($0)" }
            try #require(groups.map(\.key) == indices)
            return .list(try groups.map { try build($0.pairs, style) })
        }
        return .object(try groups.map { .init(key: $0.key, value: try build($0.pairs, style)) })
    }

    @Test(
        "A value encoded with any array style reads back unchanged and in order",
        arguments: Style.allCases,
        0..<10
    )
    func encodable(_ style: Style, _ seed: UInt64) throws {
        var random = PipelineRandom.seeded(seed)
        let encoder = URLFormEncoder(arrayEncoding: style.encoding)
        for _ in 0..<100 {
            let tree = Self.tree(&random, style)
            let text = try encoder.encode(tree)
            #expect(try Self.parse(text, style) == tree, "seed \(seed)")
            #expect(text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "+") })
        }
    }

    @Test("Parameters encoded with any array style read back unchanged and sorted", arguments: Style.allCases, 0..<10)
    func parameters(_ style: Style, _ seed: UInt64) throws {
        var random = PipelineRandom.seeded(seed)
        let encoding = URLEncoding(destination: .queryString, arrayEncoding: style.encoding)
        for _ in 0..<100 {
            let tree = Self.tree(&random, style)
            var request = try PipelineRequest(url: "https://h/p")
            try encoding.encode(try #require(tree.parameters as? RequestParameters), into: &request)
            #expect(try Self.parse(try #require(request.query), style) == tree.sorted, "seed \(seed)")
        }
    }
}
