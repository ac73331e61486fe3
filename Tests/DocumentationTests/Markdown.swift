/// A page of documentation as lines.
struct Markdown {
    let lines: [String]

    init(_ text: String) {
        lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Returns the contents of the fenced blocks in a language, in order.
    func blocks(in language: String) -> [String] {
        var blocks: [String] = []
        var block: [String]?
        var isWanted = false
        for line in lines {
            if let finished = block, line == "```" {
                if isWanted { blocks.append(finished.joined(separator: "\n")) }
                block = nil
            } else if block != nil {
                block?.append(line)
            } else if line.hasPrefix("```") {
                block = []
                isWanted = line == "```" + language
            }
        }
        return blocks
    }
}
