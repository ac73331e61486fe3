/// The text between `// sample: NAME` and `// end` in a source file.
enum Samples {
    /// Returns the samples by name, without their common indentation.
    ///
    /// An empty line joins parts with the same name.
    static func all(in source: String) -> [String: String] {
        var samples: [String: String] = [:]
        var current: (name: String, lines: [Substring])?
        for line in source.split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("// sample: ") {
                current = (String(text.dropFirst("// sample: ".count)), [])
            } else if text == "// end", let sample = current {
                let body = unindented(sample.lines)
                samples[sample.name] = samples[sample.name].map { $0 + "\n\n" + body } ?? body
                current = nil
            } else {
                current?.lines.append(line)
            }
        }
        return samples
    }

    private static func unindented(_ lines: [Substring]) -> String {
        // The formatter inserts an empty line after imports.
        let lines = lines.reversed().drop(while: \.isEmpty).reversed()
        let margins = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }
        let margin = margins.min() ?? 0
        return lines.map { $0.dropFirst(margin) }.joined(separator: "\n")
    }
}
