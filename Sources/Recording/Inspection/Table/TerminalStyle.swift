/// A style of text on a terminal; the raw value is the parameter of the escape sequence.
///
/// Source: ECMA-48 §8.3.117, https://ecma-international.org/publications-and-standards/standards/ecma-48/
enum TerminalStyle: Int {
    case bold = 1
    case red = 31
    case green = 32
    case yellow = 33
    case cyan = 36

    /// Returns the style of a status code.
    ///
    /// The style of a failure is red.
    static func of(status: Int?) -> TerminalStyle {
        switch status ?? 0 {
        case 100..<300: .green
        case 300..<400: .cyan
        case 400..<500: .yellow
        default: .red
        }
    }

    /// Returns the text between the sequences that turn the style on and off.
    func applied(to text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }
}
