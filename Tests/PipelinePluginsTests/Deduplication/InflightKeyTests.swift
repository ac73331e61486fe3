import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("InflightKey", .watched)
struct InflightKeyTests {
    private let place = Stage.Position()

    private func key(
        _ request: PipelineRequest,
        ignoring: [HTTPField.Name] = [],
        attemptTimeout: Duration? = nil
    ) -> InflightKey? {
        InflightKey(request, at: place, ignoring: ignoring, attemptTimeout: attemptTimeout)
    }

    private func request(_ fields: [(String, String)], body: PipelineBody = .absent) -> PipelineRequest {
        var request = PipelineRequest(
            head: HTTPRequest(method: .get, scheme: "https", authority: "a.test", path: "/b?c=d"),
            body: body
        )
        for (name, value) in fields { request.headers.append(HTTPField(name: .named(name), value: value)) }
        return request
    }

    @Test(
        "Two lists of fields are equal if each name has the same values in the same order",
        arguments: [
            ([("A", "1"), ("B", "2")], [("B", "2"), ("A", "1")], true),
            ([("a-b", "1")], [("A-B", "1")], true),
            ([("A", "1"), ("B", "2"), ("A", "3")], [("A", "1"), ("A", "3"), ("B", "2")], true),
            ([("A", "1"), ("A", "2")], [("A", "2"), ("A", "1")], false),
            ([("A", "1"), ("A", "2")], [("A", "1, 2")], false),
            ([("A", "1")], [("A", "1"), ("A", "1")], false),
            ([("A", "1")], [("A", "1 ")], true),
            ([("A", "")], [], false),
            ([("A", "é")], [("A", "e\u{301}")], false),
            ([("A", "x")], [("A", "X")], false),
            ([("A", "1"), ("B", "2")], [("A", "1B"), ("", "2")], false),
        ] as [([(String, String)], [(String, String)], Bool)]
    )
    func fields(one: [(String, String)], other: [(String, String)], isEqual: Bool) {
        let other = other.filter { !$0.0.isEmpty }
        #expect((key(request(one)) == key(request(other))) == isEqual)
        if isEqual { #expect(key(request(one)).hashValue == key(request(other)).hashValue) }
    }

    @Test("Field values are compared as bytes, even if they are not valid text")
    func bytes() {
        var (one, other) = (request([]), request([]))
        one.headers.append(HTTPField(name: .authorization, value: [0x61, 0xff]))
        other.headers.append(HTTPField(name: .authorization, value: [0x61, 0xfe]))
        #expect(one.headers[.authorization] == other.headers[.authorization])
        #expect(key(one) != key(other))
    }

    @Test("Names of the query that only one request marks as secret are a difference")
    func secretQueryNames() {
        let one = request([])
        var other = one
        other.secretQueryNames.insert("c")
        #expect(key(one) != key(other))
        #expect(key(other) == key(other))
    }

    @Test("An ignored field is not compared unless the request marks it as secret")
    func ignored() {
        let name = HTTPField.Name.named("X-Request-ID")
        var (one, other) = (request([("x-request-id", "1")]), request([("X-Request-ID", "2")]))
        #expect(key(one, ignoring: [name]) == key(other, ignoring: [name]))
        #expect(key(one) != key(other))
        one.secretFields = [name]
        other.secretFields = [name]
        #expect(key(one, ignoring: [name]) != key(other, ignoring: [name]))
    }

    @Test("Secret field names, the position and the attempt timeout are part of the key")
    func circumstances() {
        let plain = request([("X-Key", "1")])
        var marked = plain
        marked.secretFields = [.named("X-Key")]
        let elsewhere = Stage.Position()
        #expect(key(plain) == key(plain))
        #expect(key(plain) != key(marked))
        #expect(key(plain) != InflightKey(plain, at: elsewhere))
        #expect(key(plain, attemptTimeout: .seconds(1)) != key(plain, attemptTimeout: .seconds(2)))
        #expect(key(plain, attemptTimeout: .seconds(1)) != key(plain))
        #expect(key(plain, attemptTimeout: .seconds(1)) == key(plain, attemptTimeout: .seconds(1)))
    }

    @Test(
        "All bytes of a body are compared; absent differs from empty; files and streams have no key"
    )
    func bodies() {
        let long = Data(repeating: 7, count: 200_000)
        var other = long
        other[199_999] = 8
        #expect(key(request([], body: .bytes(long))) == key(request([], body: .bytes(Data(long)))))
        #expect(key(request([], body: .bytes(long))) != key(request([], body: .bytes(other))))
        #expect(key(request([], body: .bytes((Data([1]) + long).dropFirst()))) == key(request([], body: .bytes(long))))
        #expect(key(request([], body: .absent)) != key(request([], body: .bytes(Data()))))
        let stream = PipelineBody.stream(replaying: { AsyncStream<Data> { $0.finish() } })
        #expect(key(request([], body: stream)) == nil)
        #expect(key(request([], body: .file(URL(filePath: "/dev/null")))) == nil)
    }

    @Test("D04: for 10,000 random pairs, the keys are equal if and only if the requests are equal as sent")
    func property() async {
        var random = PipelineRandom.seeded(7)
        var equalCount = 0
        var wrong: [String] = []
        for number in 0..<10_000 {
            let one = Self.makeRequest(&random)
            let isVariant = random.next() % 4 > 0
            let other = isVariant ? Self.makeVariant(of: one, &random) : Self.makeRequest(&random)
            let isSame = Wire(one) == Wire(other)
            equalCount += isSame ? 1 : 0
            let (first, second) = (key(one), key(other))
            if (first == second) != isSame { wrong.append("\(number): \(one), \(other)") }
            if isSame, first.hashValue != second.hashValue { wrong.append("\(number): hashes differ") }
            if number % 1_000 == 0 { await Task.yield() }
        }
        #expect(wrong == [])
        #expect((2_000...8_000).contains(equalCount), "\(equalCount) pairs were equal")
    }

    private static func makeRequest(_ random: inout PipelineRandom) -> PipelineRequest {
        func pick(_ texts: [String]) -> String { texts.randomElement(using: &random) ?? "" }
        var request = PipelineRequest(
            head: HTTPRequest(
                method: [.get, .head].randomElement(using: &random) ?? .get,
                scheme: pick(["http", "https"]),
                authority: pick(["a.test", "a.test:80", ""]),
                path: pick(["/", "/b", "/b?c", "/é", "/e\u{301}"])
            )
        )
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let field = HTTPField(
                name: .named(pick(["Accept", "accept", "ACCEPT", "Authorization", "X-A"])),
                value: pick(["1", "2", "12", "é", "e\u{301}", ""])
            )
            request.headers.append(field)
        }
        if Bool.random(using: &random) { request.body = .bytes(Data(pick(["", "x", "xy"]).utf8)) }
        return request
    }

    /// Returns the same request in another form, or with a small difference.
    private static func makeVariant(of request: PipelineRequest, _ random: inout PipelineRandom) -> PipelineRequest {
        var variant = request
        switch random.next() % 8 {
        case 0: variant.method = .head
        case 1: variant.head.path = (variant.head.path ?? "") + "/"
        case 2:
            // The boundary moves, but the concatenated bytes stay the same.
            let path = variant.head.path ?? ""
            variant.head.authority = (variant.head.authority ?? "") + path.prefix(1)
            variant.head.path = String(path.dropFirst())
        case 3: variant.body = variant.body.isAbsent ? .bytes(Data()) : .absent
        case 4: if !variant.headers.isEmpty { variant.headers.removeLast() }
        default:
            let fields = Array(variant.headers).shuffled(using: &random)
            variant.headers = HTTPFields(
                fields.map { field in
                    guard let name = HTTPField.Name(field.name.rawName.uppercased()) else { return field }
                    return HTTPField(name: name, value: field.value)
                }
            )
        }
        return variant
    }
}

/// The request as sent, in a different representation from the key's.
private struct Wire: Equatable {
    private let line: [[UInt8]]
    private let fields: [String: [[UInt8]]]
    private let body: Data?

    init(_ request: PipelineRequest) {
        let head = request.head
        line = [head.method.rawValue, head.scheme ?? "", head.authority ?? "", head.path ?? ""].map { Array($0.utf8) }
        fields = Dictionary(grouping: head.headerFields) { $0.name.rawName.lowercased() }
            .mapValues { $0.map { $0.withUnsafeBytesOfValue { Array($0) } } }
        body = request.body.isAbsent ? nil : request.body.bytes
    }
}
