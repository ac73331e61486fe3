import Foundation

extension Answer {
    /// A step in which a server sends a response.
    enum Step: Sendable {
        case send(Data)
        case pause(milliseconds: Int)
        case close
        case reset
    }

    /// The steps that send the response.
    var steps: [Step] {
        var steps: [Step] = delay > 0 ? [.pause(milliseconds: delay)] : []
        switch fault {
        case .none:
            steps += whole
        case .truncated:
            steps += [.send(head + body.prefix(body.count / 2)), .close]
        case .reset:
            // The bytes must arrive before the reset.
            steps += [.send(head + body.prefix(body.count / 2)), .pause(milliseconds: 5), .reset]
        case .empty:
            steps.append(.close)
        case .malformed(let way):
            steps += [.send(Data(Self.nonsense[way].utf8)), .close]
        }
        return steps
    }

    private var whole: [Step] {
        switch framing {
        case .none: return [.send(head)]
        case .length: return [.send(head + body)]
        case .close: return [.send(head + body), .close]
        case .chunked:
            var steps: [Step] = [.send(head)]
            for piece in pieces {
                if let pause { steps.append(.pause(milliseconds: pause)) }
                steps.append(.send(Data("\(String(piece.count, radix: 16))\r\n".utf8) + piece + Data("\r\n".utf8)))
            }
            return steps + [.send(Data("0\r\n\r\n".utf8))]
        }
    }

    private var head: Data {
        var text = "HTTP/1.1 \(status) Status\r\n"
        for field in fields { text += "\(field.name): \(field.value)\r\n" }
        switch framing {
        case .length: text += "Content-Length: \(body.count)\r\n"
        case .chunked: text += "Transfer-Encoding: chunked\r\n"
        case .none where status == 200: text += "Content-Length: \(body.count)\r\n"
        case .none, .close: break
        }
        return Data((text + "\r\n").utf8)
    }

    /// Malformed responses.
    ///
    /// None ends within the header fields, because that would stop Foundation's client on Linux.
    private static let nonsense = [
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
    ]
}
