import Foundation

/// The outputs of the program, which tests replace to compare the text.
struct Printer: Sendable {
    /// Whether standard error is a terminal, which can show a progress bar.
    let isTerminal: Bool
    let output: @Sendable (String) -> Void
    let error: @Sendable (String) -> Void

    static let standard = Printer(
        isTerminal: isatty(STDERR_FILENO) == 1,
        output: { FileHandle.standardOutput.write(Data($0.utf8)) },
        error: { FileHandle.standardError.write(Data($0.utf8)) }
    )

    /// Prints a line to standard output.
    func show(_ line: String) { output(line + "\n") }

    /// Prints a line to standard error.
    func note(_ line: String) { error("github: \(line)\n") }
}
