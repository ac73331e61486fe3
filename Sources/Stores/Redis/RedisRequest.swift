#if Redis
import Foundation

/// Commands that are sent together, in the form in which Redis receives them.
struct RedisRequest: Sendable {
    /// A part of a command.
    enum Argument: ExpressibleByStringLiteral {
        case text(String)
        case bytes(Data)
        case number(Int)

        init(stringLiteral value: String) { self = .text(value) }
    }

    private(set) var bytes: [UInt8] = []
    /// The number of commands, which is also the number of replies.
    private(set) var count = 0

    init(_ commands: [Argument]...) {
        for command in commands { append(command) }
    }

    mutating func append(_ command: [Argument]) {
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
