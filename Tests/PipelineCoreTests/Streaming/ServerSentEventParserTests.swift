import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("ServerSentEvent.Parser", .watched)
struct ServerSentEventParserTests {
    struct Row: CustomTestStringConvertible, Sendable {
        let rule: String
        let stream: [UInt8]
        let events: [ServerSentEvent]
        var id: String
        var retry: Duration?

        var testDescription: String { rule }

        init(_ rule: String, _ stream: String, _ events: ServerSentEvent..., id: String = "", retry: Duration? = nil) {
            self.init(rule, Array(stream.utf8), events, id: id, retry: retry)
        }

        init(_ rule: String, _ stream: [UInt8], _ events: [ServerSentEvent], id: String = "", retry: Duration? = nil) {
            (self.rule, self.stream, self.events, self.id, self.retry) = (rule, stream, events, id, retry)
        }
    }

    private static func event(_ data: String, _ type: String = "message", id: String = "") -> ServerSentEvent {
        ServerSentEvent(type: type, data: data, id: id)
    }

    /// The samples of section 9.2.6, reworded.
    static let standard: [Row] = [
        Row("three lines of data are one event", "data: YHOO\ndata: +2\ndata: 10\n\n", event("YHOO\n+2\n10")),
        Row(
            "a comment, an ID, a reset of the ID, and a block that never ends",
            ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event",
            event("first event", id: "1"),
            event("second event")
        ),
        Row("data without a value is data", "data\n\ndata\ndata\n\ndata:", event(""), event("\n")),
        Row("one space after the colon is left out", "data:test\n\ndata: test\n\n", event("test"), event("test")),
    ]

    static let rules: [Row] = [
        Row("nothing", ""),
        Row("a second space stays", "data:  x\n\n", event(" x")),
        Row("a tab stays", "data:\tx\n\n", event("\tx")),
        Row("a space before the colon makes another field", "data : x\n\n"),
        Row("a space before the name makes another field", " data: x\n\n"),
        Row("names have a case", "Data: x\nDATA: y\n\n"),
        Row("later colons belong to the value", "data: a:b: c\n\n", event("a:b: c")),
        Row("unknown fields are left out", "foo: 1\ndata: x\nbar\n\n", event("x")),
        Row("comments are left out, inside an event too", ":\n: c\ndata: x\n:data: y\ndata: z\n\n", event("x\nz")),
        Row("an event has a name", "event: add\ndata: 1\n\n", event("1", "add")),
        Row("the last name counts", "event: a\nevent: b\ndata: 1\n\n", event("1", "b")),
        Row("an empty name is message", "event: a\nevent\ndata: 1\n\n", event("1")),
        Row("a name is for one event", "event: a\ndata: 1\n\ndata: 2\n\n", event("1", "a"), event("2")),
        Row("a name without data is no event, and forgotten", "event: a\n\ndata: 1\n\n", event("1")),
        Row("data of no line is no event", "\n\n\nid: 3\n\n", id: "3"),
        Row("CRLF", "data: 1\r\ndata: 2\r\n\r\n", event("1\n2")),
        Row("CR", "data: 1\rdata: 2\r\r", event("1\n2")),
        Row("all three ends", "data: 1\r\ndata: 2\rdata: 3\n\r\n", event("1\n2\n3")),
        Row("a CR and an LF that begins a line are one end", "data: 1\r\n\rdata: 2\n\r\n", event("1"), event("2")),
        Row("a byte order mark is left out", "\u{feff}data: 1\n\n", event("1")),
        Row("a second byte order mark is not", "\u{feff}\u{feff}data: 1\n\ndata: 2\n\n", event("2")),
        Row("a later byte order mark is not", "data: 1\n\n\u{feff}data: 2\n\ndata: 3\n\n", event("1"), event("3")),
        Row("what does not come to an empty line is dropped", "data: 1\n\ndata: 2\nid: 7\n", event("1")),
        Row("an ID holds on", "id: 1\ndata: a\n\ndata: b\n\n", event("a", id: "1"), event("b", id: "1"), id: "1"),
        Row("an ID after the data is of the same event", "data: a\nid: 1\n\n", event("a", id: "1"), id: "1"),
        Row("an ID with a NUL is left out", "id: 1\ndata: a\nid: 2\u{0}\n\n", event("a", id: "1"), id: "1"),
        Row(
            "an ID with a control character is left out",
            "id: 1\ndata: a\nid: 2\u{1b}\n\n",
            event("a", id: "1"),
            id: "1"
        ),
        Row("an ID may hold a tab", "id: 1\t2\n\n", id: "1\t2"),
        Row("a long line without a colon is no field", "datadata\nretry2\nidentity\ndata: 1\n\n", event("1")),
        Row("an empty ID forgets", "id: 1\ndata: a\n\nid:\ndata: b\n\n", event("a", id: "1"), event("b")),
        Row("an ID of a block without data holds", "id: 5\n\ndata: a\n\n", event("a", id: "5"), id: "5"),
        Row("data may hold a NUL", "data: a\u{0}b\n\n", event("a\u{0}b")),
        Row("retry is milliseconds", "retry: 1500\n\n", retry: .milliseconds(1_500)),
        Row("retry holds at once", "retry: 0\ndata: x", retry: .zero),
        Row("zeros in front", "retry: 0020\n", retry: .milliseconds(20)),
        Row("the last retry holds", "retry: 1\nretry: 2\n\nretry: x\n", retry: .milliseconds(2)),
        Row("retry in digits only", "retry: 1s\nretry: -1\nretry: +1\nretry: 1.5\nretry:  1\nretry: 1 \nretry: ٣\n\n"),
        Row("an empty retry", "retry\nretry:\nretry: \n\n"),
        Row("a retry larger than any number", "retry: 99999999999999999999999\n", retry: .milliseconds(Int64.max)),
        Row("any language", "data: Füße 漢字 👍\nevent: é\n\n", event("Füße 漢字 👍", "é")),
        Row(
            "what is no UTF-8 is replaced",
            Array("data: a".utf8) + [0xff, 0xf0, 0x9f] + Array("b\nid: ".utf8) + [0xc3] + Array("\n\n".utf8),
            [event("a\u{fffd}\u{fffd}b", id: "\u{fffd}")],
            id: "\u{fffd}"
        ),
        Row("half a byte order mark is none", [0xef, 0xbb] + Array("data: 1\n\ndata: 2\n\n".utf8), [event("2")]),
    ]

    @Test("The standard's rules hold, whether bytes arrive at once or one by one", arguments: standard + rules)
    func table(_ row: Row) throws {
        for pieces in [[Data(row.stream)], Data(row.stream).singly] {
            var parser = ServerSentEvent.Parser()
            var events: [ServerSentEvent] = []
            for piece in pieces {
                parser.append(piece)
                while let event = try parser.next() { events.append(event) }
            }
            #expect(events == row.events)
            #expect(parser.lastEventID == row.id)
            #expect(parser.reconnectionTime == row.retry)
        }
    }

    @Test(
        "An event is delivered with the last byte of its empty line",
        arguments: ["data: 1\n\n", "data: 1\r\n\r", "data: 1\r\r"]
    )
    func promptness(_ stream: String) throws {
        var parser = ServerSentEvent.Parser()
        parser.append(Data(stream.utf8.dropLast()))
        #expect(try parser.next() == nil)
        parser.append(Data(stream.utf8.suffix(1)))
        #expect(try parser.next()?.data == "1")
    }

    @Test("Events have the parser's initial ID until the server sends another or an empty one")
    func givenID() throws {
        var parser = ServerSentEvent.Parser(lastEventID: "4")
        parser.append(Data("data: a\n\nid: 5\ndata: b\n\nid\ndata: c\n\n".utf8))
        #expect(try (0..<3).map { _ in try parser.next()?.id } == ["4", "5", ""])
    }

    @Test(
        "Data may have the maximum byte count; more fails with limit.eventBytes, and a longer line with limit.lineBytes"
    )
    func limits() {
        let parser = ServerSentEvent.Parser(maximumByteCount: 12)
        let allowed = Data("data: abcdef\ndata: ghijk\n\n".utf8)
        #expect(Decoded(parser, [allowed]).elements.map(\.data) == ["abcdef\nghijk"])
        for text in ["data: abcdef\ndata: ghijkl\n\ndata:1\n\n", "data\n" + String(repeating: "data\n", count: 20)] {
            for pieces in [[allowed + Data(text.utf8)], (allowed + Data(text.utf8)).singly] {
                let decoded = Decoded(parser, pieces)
                #expect(decoded.elements.count == 1)
                #expect(decoded.failure == "limit.eventBytes the data of an event is longer than the 12 bytes allowed")
            }
        }
        let line = Decoded(parser, [allowed + Data(": 3456789 123\n".utf8)])
        #expect(line.elements.count == 1)
        #expect(line.failure == "limit.lineBytes a line is longer than the 12 bytes allowed")
    }
}
