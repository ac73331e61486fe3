#if Redis
public import Foundation

/// Commands that are sent together, in the form in which Redis receives them.
@_spi(Stores) public struct RedisRequest: Sendable {
    /// A part of a command.
    public enum Argument: ExpressibleByStringLiteral {
        case text(String)
        case bytes(Data)
        case number(Int)

        /// Makes an argument of a literal.
        public init(stringLiteral value: String) { self = .text(value) }
    }

    private(set) var bytes: [UInt8] = []
    /// The number of commands, which is also the number of replies.
    private(set) var count = 0

    /// Makes a request of commands.
    public init(_ commands: [Argument]...) {
        for command in commands { append(command) }
    }

    /// Adds a command, whose reply follows those of the commands before it.
    public mutating func append(_ command: [Argument]) {
        bytes += "*\(command.count)\r\n".utf8
        for argument in command {
            switch argument {
            case .text(let text): append(text.utf8)
            case .bytes(let data): append(data)
            case .number(let number): append("\(number)".utf8)
            }
        }
        count += 1
    }

    private mutating func append(_ argument: some Collection<UInt8>) {
        bytes += "$\(argument.count)\r\n".utf8
        bytes += argument
        bytes += "\r\n".utf8
    }
}
#endif
