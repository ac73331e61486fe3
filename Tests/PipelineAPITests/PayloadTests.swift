import Foundation
import HTTPTypes
import Pipeline
import PipelineAPI
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Payloads and dates of APIRequest")
struct PayloadTests {
    struct Signup: JSONPayload, Codable {
        var name = "Ann"
        var born = Date(timeIntervalSince1970: 1_000_000_000.25)
    }

    struct Form: FormURLEncodedPayload {
        var z = "a&b"
        var a = [1, 2]
        var none: Int?
        var ok = true
    }

    struct Post: MultipartPayload {
        var text: String
        var id: UUID?
        var at: Date?
        var raw: Data?
        var images: [FormFile] = []
        var video: FormFile?
        var tags: [String] = []
    }

    struct Own: JSONPayload, CustomDateEncodingStrategy {
        static let dateEncodingStrategy = DateCodingStrategy.formatted("yyyy-MM-dd")
        var born = Date(timeIntervalSince1970: 1_000_000_000)
    }

    struct Moment: Decodable, CustomDateDecodingStrategy, Equatable {
        static let dateDecodingStrategy = DateCodingStrategy.secondsSince1970
        var at: Date
    }

    private let bench = APIBench(ScriptedTransport(always: .ok))

    private func send(_ request: APIRequest<Nothing>) async throws -> PipelineRequest {
        _ = try await bench.api.send(request.method(.post))
        return try #require(bench.transport.sent.last)
    }

    @Test("C60 B-C18 B-C19 A JSONPayload is JSON, with a Content-Type where the request has none")
    func json() async throws {
        let sent = try await send(APIRequest("signup", payload: Signup()))
        #expect(bench.sentText == #"{"born":"2001-09-09T01:46:40Z","name":"Ann"}"#)
        #expect(sent.headers[values: .contentType] == ["application/json"])
        let own = APIRequest<Nothing>("signup").payload(Signup()).headers(["content-type": "application/x"])
        #expect(try await send(own).headers[values: .contentType] == ["application/x"])
    }

    @Test("B-C19 An array of JSON payloads is one, with the dates of its elements")
    func array() async throws {
        _ = try await send(APIRequest("bulk", payload: [Own(), Own()]))
        #expect(bench.sentText == #"[{"born":"2001-09-09"},{"born":"2001-09-09"}]"#)
    }

    @Test("ofCoder leaves dates to the coders of the client")
    func ofCoder() async throws {
        struct Moment: Codable, JSONPayload { var at: Date }
        var bench = APIBench(ScriptedTransport(always: .status(200, body: #"{"at":"2001"}"#)))
        bench.api.coders.configureJSONEncoder = { encoder in
            encoder.dateEncodingStrategy = .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode("year")
            }
        }
        bench.api.coders.configureJSONDecoder = { decoder in
            decoder.dateDecodingStrategy = .custom { _ in Date(timeIntervalSince1970: 7) }
        }
        bench.api.coders.form.dateEncoding = .secondsSince1970
        bench.api.coders.dateEncodingStrategy = .ofCoder
        bench.api.coders.dateDecodingStrategy = .ofCoder
        let moment = Moment(at: Date(timeIntervalSince1970: 5))
        let request = APIRequest<Moment>("x", payload: moment).query(moment).method(.post)
        #expect(try await bench.api.send(request).at == Date(timeIntervalSince1970: 7))
        #expect(bench.sentText == #"{"at":"year"}"# && bench.paths == ["x?at=5"])
    }

    @Test("C61 B-C15 A FormURLEncodedPayload is a form in the order of its members, escaped, without what is nil")
    func form() async throws {
        let sent = try await send(APIRequest("form", payload: Form()))
        #expect(bench.sentText == "z=a%26b&a%5B%5D=1&a%5B%5D=2&ok=1")
        #expect(sent.headers[.contentType] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test("C62 C65 C66 B-C15 A MultipartPayload has a part for each member, in their order, files with name and type")
    func multipart() async throws {
        let folder = try TemporaryFolder()
        try Data("movie".utf8).write(to: folder.file("cat.mp4"))
        let id = UUID()
        let post = Post(
            text: "Hi & bye",
            id: id,
            at: Date(timeIntervalSince1970: 1_000_000_000),
            raw: Data([0, 255]),
            images: [
                FormFile(Data("1".utf8), fileName: "1.jpg"),
                FormFile(Data("2".utf8), fileName: "2", mimeType: "image/png"),
            ],
            video: FormFile(contentsOf: folder.file("cat.mp4")),
            tags: ["x", "y"]
        )
        let sent = try await send(APIRequest("post", payload: post))
        let parts = try MultipartFormData(encoding: post).parts
        #expect(parts.map(\.name) == ["text", "id", "at", "raw", "images[]", "images[]", "video", "tags[]", "tags[]"])
        #expect(parts.map(\.fileName) == [nil, nil, nil, nil, "1.jpg", "2", "cat.mp4", nil, nil])
        #expect(parts.map(\.mimeType) == [nil, nil, nil, nil, nil, "image/png", nil, nil, nil])
        #expect(
            parts.prefix(4).map(\.body.bytes) == [
                Data("Hi & bye".utf8), Data(id.uuidString.utf8), Data("2001-09-09T01:46:40Z".utf8), Data([0, 255]),
            ]
        )
        let bytes = try await sent.body.collect(upTo: 10_000)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(sent.headers[.contentType]?.hasPrefix("multipart/form-data; boundary=") == true)
        #expect(
            text.contains("Content-Type: image/jpeg\r\n\r\n1\r\n")
                && text.contains("Content-Type: video/mp4\r\n\r\nmovie")
        )
    }

    @Test("Parts that are added to the task of a form come after its own; JSON takes none")
    func addedParts() async throws {
        let provider = Provider<MultiTarget>(transport: bench.transport) { target in
            let endpoint = Endpoint(target)
            let part = MultipartFormBodyPart(.bytes(Data("7".utf8)), name: "device")
            return endpoint.replacing(task: endpoint.task.adding(parts: [part]))
        }
        let api = APIClient(provider, server: ServerURL(base: "https://api.example.com"))
        _ = try await api.send(APIRequest<Nothing>("x", payload: Post(text: "t")).method(.post))
        let form = try #require(try await bench.transport.sent.last?.body.collect(upTo: 10_000))
        let names = String(decoding: form, as: UTF8.self).matches(of: /name="([^"]*)"/).map { String($0.1) }
        #expect(names == ["text", "device"])
        _ = try await api.send(APIRequest<Nothing>("x", payload: Signup()).method(.post))
        #expect(bench.sentText.hasPrefix(#"{"born""#))
    }

    @Test("A value in a value, and a dictionary, are parts with the outer name and the inner in brackets")
    func nested() throws {
        struct Inner: Encodable, Sendable { var a = ["b": 1] }
        struct Outer: MultipartPayload { var inner = Inner() }
        #expect(try MultipartFormData(encoding: Outer()).parts.map(\.name) == ["inner[a][b]"])
    }

    @Test("Forms are written by the client's form encoder, with the dates of the request")
    func formCoders() async throws {
        struct Form: FormURLEncodedPayload {
            var at = Date(timeIntervalSince1970: 5)
            var ok = true
        }
        struct Parts: MultipartPayload {
            var at = Date(timeIntervalSince1970: 5)
            var ok = true
        }
        var bench = bench
        bench.api.coders.form.boolEncoding = .literal
        let request = APIRequest<Nothing>("x").method(.post).dateEncodingStrategy(.secondsSince1970)
        _ = try await bench.api.send(request.payload(Form()))
        #expect(bench.sentText == "at=5&ok=true")
        _ = try await bench.api.send(request.payload(Parts()))
        let body = try await bench.transport.sent.last?.body.collect(upTo: 10_000)
        let text = String(decoding: try #require(body), as: UTF8.self)
        #expect(text.contains("name=\"at\"\r\n\r\n5\r\n") && text.contains("name=\"ok\"\r\n\r\ntrue\r\n"))
    }

    @Test("B-C12 A form without parts, or with a file that is not there, is an error and nothing is sent")
    func brokenForm() async throws {
        struct Empty: MultipartPayload { var none: Int? }
        let empty = await pipelineError { _ = try await send(APIRequest("x", payload: Empty())) }
        #expect(empty?.code == .encoding)
        let missing = Post(text: "t", video: FormFile(contentsOf: URL(filePath: "/nowhere/cat.mp4")))
        let error = await pipelineError { _ = try await send(APIRequest("x", payload: missing)) }
        #expect(error?.code == .file(.unreadable))
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("A file of a form encodes nowhere else, and does not decode")
    func formFile() throws {
        let file = FormFile(Data([1, 2]), fileName: "a.bin", mimeType: "x/y")
        #expect(throws: EncodingError.self) { try APICoders().jsonEncoder(for: file).encode(file) }
        #expect(!((FormFile.self as Any.Type) is any Decodable.Type))
        #expect("\(file)" == "\"a.bin\"")
        var text = ""
        dump(FormFile(contentsOf: URL(filePath: "/hunter2/a.bin")), to: &text)
        #expect(text.contains("a.bin") && !text.contains("hunter2"))
    }

    @Test("B-C13 The largest whole numbers are written in full, in queries, forms, parts and JSON")
    func largestNumbers() async throws {
        struct Form: FormURLEncodedPayload, MultipartPayload {
            var most = UInt64.max
            var least = Int64.min
            func makeTask(with coders: APICoders) -> RequestTask {
                .requestFormURLEncodable(self, encoder: coders.formEncoder(for: self))
            }
        }
        let text = "most=18446744073709551615&least=-9223372036854775808"
        let request = APIRequest<Nothing>("x", payload: Form()).query(Form())
        _ = try await send(request)
        #expect(bench.sentText == text && bench.paths == ["x?" + text])
        let parts = try MultipartFormData(encoding: Form()).parts.map {
            String(decoding: $0.body.bytes ?? Data(), as: UTF8.self)
        }
        #expect(parts == ["18446744073709551615", "-9223372036854775808"])
        _ = try await send(request.task(.requestJSONEncodable(Form())))
        #expect(bench.sentText.contains("18446744073709551615") && bench.sentText.contains("-9223372036854775808"))
    }

    @Test("A form with files, and a file, need a method that carries a body", arguments: [HTTPMethod.get, .head])
    func bodilessMethod(method: HTTPMethod) async throws {
        for request in [
            APIRequest<Nothing>("x", payload: Post(text: "t")),
            APIRequest("x").task(.requestStream(.bytes(Data("t".utf8)))),
        ] {
            let error = await pipelineError { _ = try await bench.api.send(request.method(method)) }
            #expect(error?.code == .invalidRequest(.body))
        }
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("A file of a form that has another length than when the call began is bodyChanged")
    func changedFile() async throws {
        let folder = try TemporaryFolder()
        let file = folder.file("a.bin")
        try Data("1234".utf8).write(to: file)
        let bench = APIBench(
            .answer { request, _ in
                try Data("12345".utf8).write(to: file)
                _ = try await request.body.collect(upTo: 10_000)
                return PipelineResponse(request: request, statusCode: 200)
            }
        )
        let post = Post(text: "t", video: FormFile(contentsOf: file))
        let error = await pipelineError {
            _ = try await bench.api.send(APIRequest<Nothing>("x", payload: post).method(.post))
        }
        #expect(error?.code == .bodyChanged)
    }

    @Test("A file on disk has the name and the type that it is given")
    func namedFile() throws {
        let file = FormFile(contentsOf: URL(filePath: "/nowhere/a.jpg"), fileName: "b", mimeType: "x/y")
        let part = try #require(MultipartFormData(encoding: Post(text: "t", video: file)).parts.last)
        #expect(part.name == "video" && part.fileName == "b" && part.mimeType == "x/y")
    }

    @Test("A payload in a form of its own makes its task itself")
    func ownForm() async throws {
        struct Lines: APIPayload {
            func makeTask(with coders: APICoders) -> RequestTask { .requestData(Data("a\nb".utf8)) }
        }
        #expect(try await send(APIRequest("x", payload: Lines())).body.bytes == Data("a\nb".utf8))
        let task = APIRequest<Nothing>("x", payload: Lines()).task(.requestData(Data("c".utf8)))
        #expect(try await send(task).body.bytes == Data("c".utf8))
        #expect(try await send(task.payload(Lines())).body.bytes == Data("a\nb".utf8))
    }

    private final class Count: Sendable {
        private let made = Atomic(0)

        var value: Int { made.load(ordering: .relaxed) }

        func next() -> Int { made.add(1, ordering: .relaxed).newValue }
    }

    /// Counts how often it is made into a task, and throws as it is made for the first time.
    private struct Counted: APIPayload {
        let count: Count
        var throwsFirst = false
        func encode(to encoder: any Encoder) throws {}
        func makeTask(with coders: APICoders) throws -> RequestTask {
            if count.next() == 1, throwsFirst { throw PipelineError(.file(.unreadable), "gone") }
            return .requestStream(.bytes(Data(repeating: 7, count: 100)))
        }
    }

    /// Carries what another request carries.
    private struct Borrowed: APIPayload {
        let request: APIRequest<Nothing>
        func encode(to encoder: any Encoder) throws {}
        func makeTask(with coders: APICoders) -> RequestTask { request.task }
    }

    @Test("What is wrong before the payload is told first, with progress too", arguments: [true, false])
    func orderOfFailures(hasProgress: Bool) async throws {
        let payload = Counted(count: Count(), throwsFirst: true)
        let request = APIRequest<Nothing>("x", "", payload: payload).method(.post)
        let error = await pipelineError {
            if hasProgress {
                _ = try await bench.api.send(request) { _ in }
            } else {
                _ = try await bench.api.send(request)
            }
        }
        #expect(error?.code == .invalidRequest(.path))
    }

    private static let callers: [@Sendable (APIClient, APIRequest<Nothing>) async throws -> Void] = [
        { api, request in _ = try await api.send(request) },
        { api, request in _ = try await api.send(request) { _ in } },
        { api, request in _ = try await api.send(request.and(APIRequest<Nothing>("y"))) { _ in } },
        { api, request in await api.call(request).finished() },
        { api, request in await api.call(request).onProgress { _ in }.finished() },
        { api, request in
            for try await _ in api.provider.requestWithProgress(MultiTarget(try api.resolved(request))) {}
        },
        { api, request in _ = try await api.provider.stream(MultiTarget(try api.resolved(request))) },
        { api, request in _ = try Endpoint(try api.resolved(request)).makeRequest() },
    ]

    @Test("A payload is made into a task once for a call, also when its progress is watched", arguments: 0..<8)
    func madeOnce(caller: Int) async throws {
        for isBorrowed in [false, true] {
            let count = Count()
            var request = APIRequest<Nothing>("x", payload: Counted(count: count)).method(.post)
            if isBorrowed { request = APIRequest("x", payload: Borrowed(request: request)).method(.post) }
            try await Self.callers[caller](bench.api, request)
            #expect(count.value == 1)
        }
    }

    @Test("A payload that throws once fails its call, also when its progress is watched, and not the next")
    func throwsOnce() async throws {
        let count = Count()
        let request = APIRequest<Nothing>("x", payload: Counted(count: count, throwsFirst: true)).method(.post)
        let error = await pipelineError { _ = try await bench.api.send(request) { _ in } }
        #expect(error?.code == .file(.unreadable) && count.value == 1 && bench.transport.sent.isEmpty)
        _ = try await bench.api.send(request)
        #expect(count.value == 2)
    }

    @Test("What a payload throws is the failure when it is a PipelineError, else encoding; nothing is sent")
    func brokenOwnForm() async throws {
        struct Broken: APIPayload, Error {
            var error: PipelineError?
            func encode(to encoder: any Encoder) throws {}
            func makeTask(with coders: APICoders) throws -> RequestTask { throw error ?? self }
        }
        let own = Broken(error: PipelineError(.file(.unreadable), "gone"))
        #expect(await pipelineError { _ = try await send(APIRequest("x", payload: own)) }?.code == .file(.unreadable))
        #expect(await pipelineError { _ = try await send(APIRequest("x", payload: Broken())) }?.code == .encoding)
        let alone = APIRequest<Nothing>(ServerURL(base: "https://example.com"), "x", payload: Broken())
        #expect(await pipelineError { _ = try Endpoint(alone).makeRequest() }?.code == .encoding)
        #expect(bench.transport.sent.isEmpty)
    }

    @Test(
        "C18 C70 C71 B-C24 A strategy writes dates alike in JSON, queries and forms",
        arguments: [
            (DateCodingStrategy.iso8601, #""2001-09-09T01:46:40Z""#, "2001-09-09T01:46:40Z"),
            (.secondsSince1970, "1000000000.25", "1000000000.25"),
            (.millisecondsSince1970, "1000000000250", "1000000000250"),
            (.formatted("yyyy/MM"), #""2001\/09""#, "2001/09"),
        ]
    )
    func dates(strategy: DateCodingStrategy, json: String, text: String) async throws {
        let request = APIRequest<Nothing>("x").dateEncodingStrategy(strategy)
        _ = try await send(request.payload(Signup()))
        #expect(bench.sentText == #"{"born":\#(json),"name":"Ann"}"#)
        _ = try await send(request.query(Signup()))
        #expect(bench.paths.last?.removingPercentEncoding == "x?name=Ann&born=\(text)")
    }

    @Test(
        "C70 C71 A strategy reads dates, and ISO 8601 is read without one",
        arguments: [
            (DateCodingStrategy?.none, #""2001-09-09T01:46:40Z""#), (.iso8601, #""2001-09-09T01:46:40Z""#),
            (nil, #""2001-09-09T01:46:40.000Z""#), (.iso8601, #""2001-09-09T03:46:40+02:00""#),
            (nil, #""2001-09-08T20:46:40.000-05:00""#), (nil, #""2001-09-09T03:46:40.000+0200""#),
            (.secondsSince1970, "1000000000"), (.millisecondsSince1970, "1000000000000"),
            (.formatted("yyyy/MM/dd HH-mm-ss"), #""2001/09/09 01-46-40""#),
        ]
    )
    func readDates(strategy: DateCodingStrategy?, body: String) async throws {
        let bench = APIBench(.status(200, body: body))
        let request = APIRequest<Date>("x")
        let date = try await bench.api.send(strategy.map { request.dateDecodingStrategy($0) } ?? request)
        #expect(date == Date(timeIntervalSince1970: 1_000_000_000))
    }

    @Test("A fraction of ISO 8601 counts; a text that is no date is an error without the text")
    func fraction() async throws {
        let bench = APIBench(.status(200, body: #""2001-09-09T01:46:40.250Z""#), .status(200, body: #""hunter2""#))
        let date = try await bench.api.send(APIRequest<Date>("x"))
        #expect(abs(date.timeIntervalSince1970 - 1_000_000_000.25) < 0.0001)
        let error = await pipelineError { _ = try await bench.api.send(APIRequest<Date>("x")) }
        #expect(error?.code == .mapping(.object) && !"\(String(describing: error))".contains("hunter2"))
    }

    @Test(
        "A text that goes on behind a date, or ends within it, is no date",
        arguments: [
            "2001-09-09T01:46:40Zone", "2001-09-09T01:46:40Z/2001-09-09T01:46:41Z", "2001-09-09T01:46:40+01:00 [Rome]",
            "2001-09-09T01:46:40.25Z ", "2001-09-09T01:46:40", "2001-09-09", "",
        ]
    )
    func noDates(text: String) async throws {
        let bench = APIBench(.status(200, body: "\"\(text)\""))
        let error = await pipelineError { _ = try await bench.api.send(APIRequest<Date>("x")) }
        #expect(error?.code == .mapping(.object))
    }

    @Test("An offset from UTC is read", arguments: ["+01:00", "-11:00", "+0100", "+01", ".5+01:00"])
    func offsets(zone: String) async throws {
        let bench = APIBench(.status(200, body: "\"2001-09-09T01:46:40\(zone)\""))
        let date = try await bench.api.send(APIRequest<Date>("x"))
        let hours = zone == "-11:00" ? -11.0 : 1
        #expect(date.timeIntervalSince1970.rounded(.down) == 1_000_000_000 - hours * 3_600)
    }

    @Test(
        "A date that is none, or has no text, cannot be encoded; nothing is sent",
        arguments: [
            (DateCodingStrategy.iso8601, [Double.nan, .infinity, -.infinity, 253_402_300_800, -1e12, 1e300]),
            (.formatted("yyyy-MM-dd"), [.nan, .infinity, 253_402_300_800, -1e12, 1e300]),
            (.secondsSince1970, [.nan, .infinity]), (.millisecondsSince1970, [.nan, .infinity, 1e306]),
        ]
    )
    func unencodableDates(strategy: DateCodingStrategy, seconds: [Double]) async throws {
        struct Moment: JSONPayload { var at: Date }
        let request = APIRequest<Nothing>("x").method(.post).dateEncodingStrategy(strategy)
        for seconds in seconds {
            let moment = Moment(at: Date(timeIntervalSince1970: seconds))
            for request in [request.payload(moment), request.query(moment)] {
                let error = await pipelineError { _ = try await bench.api.send(request) }
                #expect(error?.code == .encoding && error?.reason.contains("at") == true, "\(seconds)")
            }
        }
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("The year that a formatter writes is the one that counts")
    func yearOfZone() async throws {
        struct Moment: JSONPayload { var at = Date.distantPast }
        for (hours, text) in [(-1, nil), (0, #"{"at":"0001-01-01"}"#), (1, #"{"at":"0001-01-01"}"#)] {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: hours * 3_600)
            formatter.dateFormat = "yyyy-MM-dd"
            let bench = APIBench(ScriptedTransport(always: .ok))
            let request = APIRequest<Nothing>("x", payload: Moment()).method(.post)
            let error = await pipelineError {
                _ = try await bench.api.send(request.dateEncodingStrategy(.formatted(formatter)))
            }
            #expect(error?.code == (text == nil ? .encoding : nil))
            #expect(bench.sentText == text ?? "")
        }
    }

    @Test("The first and the last date that have a text are sent")
    func firstAndLastDate() async throws {
        struct Span: JSONPayload { var from = Date.distantPast, to = Date(timeIntervalSince1970: 253_402_300_799) }
        _ = try await send(APIRequest("x", payload: Span()))
        #expect(bench.sentText == #"{"from":"0001-01-01T00:00:00Z","to":"9999-12-31T23:59:59Z"}"#)
    }

    @Test(
        "Milliseconds are rounded, and whole however far the date",
        arguments: [(1_000_000_000.0016, "1000000000002"), (1e14, "100000000000000000")]
    )
    func milliseconds(seconds: Double, text: String) async throws {
        struct Moment: JSONPayload { var at: Date }
        let moment = Moment(at: Date(timeIntervalSince1970: seconds))
        let request = APIRequest<Nothing>("x", payload: moment).query(moment)
        _ = try await send(request.dateEncodingStrategy(.millisecondsSince1970))
        #expect(bench.sentText == "{\"at\":\(text)}" && bench.paths == ["x?at=\(text)"])
    }

    @Test("A pattern gives the same text on every device, in UTC and in English")
    func pattern() async throws {
        await #expect(processExitsWith: .success) {
            NSTimeZone.default = try #require(TimeZone(secondsFromGMT: 32_400))
            let bench = APIBench(ScriptedTransport(always: .ok))
            let request = APIRequest<Nothing>("x", payload: Signup()).method(.post)
            _ = try await bench.api.send(request.dateEncodingStrategy(.formatted("EEE d MMM yyyy, h.mm a zzz")))
            #expect(bench.sentText == #"{"born":"Sun 9 Sep 2001, 1.46 AM GMT","name":"Ann"}"#)
        }
    }

    @Test("C72 The payload's own strategy wins over the request's, that over the client's")
    func nearestEncoding() async throws {
        var bench = bench
        bench.api.coders.dateEncodingStrategy = .secondsSince1970
        let request = APIRequest<Nothing>("x").method(.post)
        _ = try await bench.api.send(request.payload(Signup()))
        #expect(bench.sentText.contains("1000000000.25"))
        _ = try await bench.api.send(request.payload(Signup()).dateEncodingStrategy(.millisecondsSince1970))
        #expect(bench.sentText.contains("1000000000250"))
        _ = try await bench.api.send(request.payload(Own()).dateEncodingStrategy(.millisecondsSince1970))
        #expect(bench.sentText == #"{"born":"2001-09-09"}"#)
        _ = try await bench.api.send(APIRequest<Nothing>("x").query(Own()))
        #expect(bench.paths.last == "x?born=2001-09-09")
        _ = try await bench.api.send(APIRequest<Nothing>("x").query(Own() as Own?))
        #expect(bench.paths.last == "x?born=2001-09-09")
        _ = try await bench.api.send(APIRequest<Nothing>("x").query(["a": [Own()]]))
        #expect(bench.paths.last?.removingPercentEncoding == "x?a[][born]=2001-09-09")
    }

    @Test("C73 B-C23 The answer's own strategy wins over the request's, that over the client's")
    func nearestDecoding() async throws {
        var bench = APIBench(ScriptedTransport(always: .status(200, body: #"[{"at":2000}]"#)))
        struct Plain: Decodable { var at: Date }
        bench.api.coders.dateDecodingStrategy = .millisecondsSince1970
        let plain = APIRequest<[Plain]>("x")
        #expect(try await bench.api.send(plain).first?.at == Date(timeIntervalSince1970: 2))
        let nearer = try await bench.api.send(plain.dateDecodingStrategy(.secondsSince1970)).first?.at
        #expect(nearer == Date(timeIntervalSince1970: 2_000))
        let own = try await bench.api.send(APIRequest<[Moment]>("x").dateDecodingStrategy(.iso8601))
        #expect(own == [Moment(at: Date(timeIntervalSince1970: 2_000))])
        let single = APIBench(.status(200, body: #"{"at":2000}"#)).api
        let maybe = try await single.send(APIRequest<Moment?>("x").dateDecodingStrategy(.iso8601))
        #expect(maybe == Moment(at: Date(timeIntervalSince1970: 2_000)))
        let named = APIBench(.status(200, body: #"{"a":{"at":2000}}"#)).api
        let moments = try await named.send(APIRequest<[String: Moment]>("x"))
        #expect(moments == ["a": Moment(at: Date(timeIntervalSince1970: 2_000))])
    }

    @Test("The client's coders write payloads and read answers")
    func coders() async throws {
        struct User: JSONPayload, Codable { var firstName: String }
        var bench = APIBench(ScriptedTransport(always: .status(200, body: #"{"first_name":"Eve"}"#)))
        bench.api.coders.configureJSONEncoder = { $0.keyEncodingStrategy = .convertToSnakeCase }
        bench.api.coders.configureJSONDecoder = { $0.keyDecodingStrategy = .convertFromSnakeCase }
        bench.api.coders.form.boolEncoding = .literal
        let request = APIRequest<User>("x", payload: User(firstName: "Ann")).method(.post).query(["ok": true])
        #expect(try await bench.api.send(request).firstName == "Eve")
        #expect(bench.sentText == #"{"first_name":"Ann"}"# && bench.paths == ["x?ok=true"])
    }
}
