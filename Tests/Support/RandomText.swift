package import Pipeline

extension PipelineRandom {
    /// Returns a string of at most `limit` scalars, biased towards those with a meaning in a URL.
    package mutating func makeString(upTo limit: Int) -> String {
        let special: [Unicode.Scalar] = [
            "/", "?", "#", "%", "&", "=", "+", " ", ".", "[", "]", ":", "@", "\\", "\"", "\r", "\n", "\u{0}", "\t",
            "\u{7f}", "é", "漢", "👍", "\u{301}", ";", "2", "F", "0", "A", "~", "{", "|",
        ]
        var scalars = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...limit, using: &self) {
            if Bool.random(using: &self), let scalar = special.randomElement(using: &self) {
                scalars.append(scalar)
            } else if let scalar = Unicode.Scalar(UInt32.random(in: 0...0x2fff, using: &self)) {
                scalars.append(scalar)
            }
        }
        return String(scalars)
    }
}
