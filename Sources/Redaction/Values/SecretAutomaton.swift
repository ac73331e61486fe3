/// Finds any of many byte strings in one pass over a text (Aho and Corasick 1975), whatever the text.
///
/// Some bytes count as equal, see ``folded``. Matches that overlap or touch are merged into one.
struct SecretAutomaton: Sendable {
    /// A byte string, and whether an adjacent base64 digit, before or after it, contains a part of the secret too.
    struct Pattern {
        var bytes: [UInt8]
        var reachesBefore = false
        var reachesBehind = false
    }

    private struct Node {
        var label: UInt8 = 0
        var reachesBefore = false
        var reachesBehind = false
        var firstChild: Int32 = 0
        var sibling: Int32 = 0
        /// The node of the longest proper suffix of this node's text that is a prefix of a pattern.
        var fallback: Int32 = 0
        /// The length of the longest pattern that ends here; 0 if none does.
        var length: Int32 = 0
    }

    private var nodes = [Node()]
    private var roots = [Int32](repeating: 0, count: 256)
    /// The first two bytes of each pattern, as a bit set, which allows most of a text to be skipped.
    private var beginnings = [UInt64](repeating: 0, count: 1 << 10)

    /// A form may encode a space as `+`; the base64 alphabets (RFC 4648 §4 and §5) differ in `+`, `/` and `-`, `_`.
    private static let folded: [UInt8] = (0...255).map { fold(UInt8($0)) }

    @inline(__always)
    static func fold(_ byte: UInt8) -> UInt8 {
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "-"): UInt8(ascii: "+")
        case UInt8(ascii: "_"): UInt8(ascii: "/")
        default: byte
        }
    }

    /// - Parameter patterns: the patterns, of two bytes or more each.
    init(_ patterns: [Pattern]) {
        for pattern in patterns { insert(pattern) }
        for byte in 0..<256 { roots[byte] = child(of: 0, Self.folded[byte]) }
        linkFallbacks()
    }

    private func child(of node: Int, _ label: UInt8) -> Int32 {
        var child = nodes[node].firstChild
        while child != 0, nodes[Int(child)].label != label { child = nodes[Int(child)].sibling }
        return child
    }

    private mutating func insert(_ pattern: Pattern) {
        let bytes = pattern.bytes.map { Self.folded[Int($0)] }
        let beginning = Int(bytes[0]) << 8 | Int(bytes[1])
        beginnings[beginning >> 6] |= 1 << UInt64(beginning & 63)
        var node = 0
        for byte in bytes {
            var next = Int(child(of: node, byte))
            if next == 0 {
                next = nodes.count
                nodes.append(Node(label: byte, sibling: nodes[node].firstChild))
                nodes[node].firstChild = Int32(next)
            }
            node = next
        }
        nodes[node].length = Int32(bytes.count)
        if pattern.reachesBefore { nodes[node].reachesBefore = true }
        if pattern.reachesBehind { nodes[node].reachesBehind = true }
    }

    /// Links breadth-first, so that a fallback is complete before another one refers to it.
    private mutating func linkFallbacks() {
        var queue = [0]
        var position = 0
        while position < queue.count {
            let node = queue[position]
            position += 1
            var next = Int(nodes[node].firstChild)
            while next != 0 {
                if node != 0 { linkFallback(of: next, parent: node) }
                queue.append(next)
                next = Int(nodes[next].sibling)
            }
        }
    }

    private mutating func linkFallback(of node: Int, parent: Int) {
        let target = nodes.withUnsafeBufferPointer { step($0, from: Int($0[parent].fallback), $0[node].label) }
        nodes[node].fallback = Int32(target)
        let shorter = nodes[target]
        guard shorter.length > 0 else { return }
        if nodes[node].length == 0 { nodes[node].length = shorter.length }
        nodes[node].reachesBefore = nodes[node].reachesBefore || shorter.reachesBefore
        nodes[node].reachesBehind = nodes[node].reachesBehind || shorter.reachesBehind
    }

    // MARK: Searching

    /// Returns where patterns occur, in order and without overlap.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - isFirstEnough: whether the search may end with the first match.
    /// - Returns: the ranges.
    func matches(in text: UnsafeBufferPointer<UInt8>, isFirstEnough: Bool) -> [Range<Int>] {
        var found: [Range<Int>] = []
        nodes.withUnsafeBufferPointer { nodes in
            var state = 0
            var index = 0
            while index < text.count {
                if state == 0 {
                    index = nextBeginning(in: text, from: index)
                    guard index < text.count else { return }
                }
                state = step(nodes, from: state, text[index])
                index += 1
                guard nodes[state].length > 0 else { continue }
                found.append(mergingLast: Self.range(of: nodes[state], endingAt: index, in: text))
                if isFirstEnough { return }
            }
        }
        return found
    }

    @inline(__always)
    private func nextBeginning(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        Self.folded.withUnsafeBufferPointer { folded in
            beginnings.withUnsafeBufferPointer { beginnings in
                var index = start
                while index + 1 < text.count {
                    let pair = Int(folded[Int(text[index])]) << 8 | Int(folded[Int(text[index + 1])])
                    if beginnings[pair >> 6] >> UInt64(pair & 63) & 1 == 1 { return index }
                    index += 1
                }
                return text.count
            }
        }
    }

    @inline(__always)
    private func step(_ nodes: UnsafeBufferPointer<Node>, from start: Int, _ byte: UInt8) -> Int {
        var state = start
        let label = Self.folded[Int(byte)]
        while state != 0 {
            var child = Int(nodes[state].firstChild)
            while child != 0, nodes[child].label != label { child = Int(nodes[child].sibling) }
            if child != 0 { return child }
            state = Int(nodes[state].fallback)
        }
        return Int(roots[Int(byte)])
    }

    private static func range(
        of node: Node,
        endingAt end: Int,
        in text: UnsafeBufferPointer<UInt8>
    ) -> Range<Int> {
        var range = end - Int(node.length)..<end
        if node.reachesBefore, range.lowerBound > 0, isBase64(text[range.lowerBound - 1]) {
            range = range.lowerBound - 1..<end
        }
        if node.reachesBehind, end < text.count, isBase64(text[end]) { range = range.lowerBound..<end + 1 }
        return range
    }

    private static func isBase64(_ byte: UInt8) -> Bool { byte.isAlphanumeric || "+/-_".utf8.contains(byte) }
}

extension [Range<Int>] {
    /// Appends a range that ends no earlier than those before, merged with all ranges that it overlaps or touches.
    mutating func append(mergingLast range: Range<Int>) {
        var range = range
        while let last, last.upperBound >= range.lowerBound {
            range = Swift.min(last.lowerBound, range.lowerBound)..<Swift.max(last.upperBound, range.upperBound)
            removeLast()
        }
        append(range)
    }
}
