import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineSigning

@Suite("AWSSigner", .watched)
struct AWSSignerTests {
    private static let secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
    private static let credentials = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: secret)
    /// 2015-08-30T12:36:00Z.
    private static let date = Date(timeIntervalSince1970: 1_440_938_160)

    private static func request(
        _ url: String,
        _ method: HTTPRequest.Method = .get,
        body: PipelineBody = .absent,
        fields: HTTPFields = [:]
    ) throws -> PipelineRequest {
        let parts = try #require(URLComponents(string: url))
        let path = parts.percentEncodedPath + (parts.percentEncodedQuery.map { "?\($0)" } ?? "")
        let head = HTTPRequest(
            method: method,
            scheme: parts.scheme,
            authority: parts.host.map { $0 + (parts.port.map { ":\($0)" } ?? "") },
            path: path,
            headerFields: fields
        )
        return PipelineRequest(head: head, body: body)
    }

    private static func signer(
        _ service: String = "service",
        region: String = "us-east-1",
        placement: AWSSigner.Placement = .header,
        signsBody: Bool = true
    ) -> AWSSigner {
        AWSSigner(region: region, service: service, placement: placement, signsBody: signsBody) { _ in credentials }
    }

    private static func signature(of request: PipelineRequest) -> String? {
        let fields = request.headers[.authorization] ?? ""
        let value = fields.isEmpty ? request.head.path?.split(separator: "&").last.map(String.init) ?? "" : fields
        return value.firstRange(of: "Signature=").map { String(value[$0.upperBound...]) }
    }

    // MARK: Vectors

    @Test(
        "Requests of AWS's signing test suite get its signatures",
        arguments: [
            ("/", "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            ("/?Param2=value2&Param1=value1", "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"),
        ]
    )
    func suite(path: String, signature: String) async throws {
        var request = try Self.request("https://example.amazonaws.com\(path)")
        try await Self.signer().sign(&request, with: Self.credentials, at: Self.date)
        #expect(request.headers[.named("X-Amz-Date")] == "20150830T123600Z")
        #expect(Self.signature(of: request) == signature)
        let authorization = try #require(request.headers[.authorization])
        let scope = "AKIDEXAMPLE/20150830/us-east-1/service/aws4_request"
        #expect(
            authorization.hasPrefix(
                "AWS4-HMAC-SHA256 Credential=\(scope), SignedHeaders=host;x-amz-date, Signature="
            )
        )
    }

    @Test("The chunked upload of the S3 documentation gets its signatures and its length")
    func chunks() async throws {
        let credentials = AWSCredentials(
            accessKeyID: "AKIAIOSFODNN7EXAMPLE",
            secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
        )
        let stream = AsyncStream<Data> { continuation in
            // Pieces of the source need not be the chunks.
            for _ in 0..<65 { continuation.yield(Data(repeating: UInt8(ascii: "a"), count: 1024)) }
            continuation.finish()
        }
        let url = "https://s3.amazonaws.com/examplebucket/chunkObject.txt"
        let fields: HTTPFields = [
            .contentLength: "66824", .contentEncoding: "gzip", .named("x-amz-storage-class"): "REDUCED_REDUNDANCY",
        ]
        var request = try Self.request(url, .put, body: .stream(stream, byteCount: 66_560), fields: fields)
        // 2013-05-24T00:00:00Z
        let date = Date(timeIntervalSince1970: 1_369_353_600)
        try await Self.signer("s3").sign(&request, with: credentials, at: date)
        #expect(request.body.byteCount == 66_824)
        #expect(request.headers[.contentEncoding] == "aws-chunked,gzip")
        #expect(request.headers[.contentLength] == nil)
        #expect(request.headers[.named("X-Amz-Decoded-Content-Length")] == "66560")
        #expect(request.headers[.named("X-Amz-Content-Sha256")] == "STREAMING-AWS4-HMAC-SHA256-PAYLOAD")
        let bytes = try await request.body.collect(upTo: 100_000)
        #expect(bytes.count == 66_824)
        let signature = try #require(Self.signature(of: request))
        // The example signs Content-Length, which the transport sets here, so the chain begins with another seed.
        let key = AWSSigningKey(credentials, region: "us-east-1", service: "s3", at: date)
        let first = Data(repeating: UInt8(ascii: "a"), count: 65_536)
        let seed = "4f232c4386841ef735655705268965c44a0e4690baa4adea153f7db9fa80a0a9"
        let expected = "ad80c730a21e5b8d04586a2213dd63b9a0e99e0e2307b0ade35a65485a288648"
        #expect(key.signature(ofChunk: first, after: seed) == expected)
        let rest = key.signature(ofChunk: first.prefix(1024), after: expected)
        #expect(rest == "0055627c9e194cb4542bae2aa5492e3c1575bbb81b612b7d234b86a503ef5497")
        let last = key.signature(ofChunk: Data(), after: rest)
        #expect(last == "b6c6ea8a5354eaf15b3cb7646744f4275b71ea724fed81ceb9323e279d449df9")
        var (expectedBytes, previous) = (Data(), signature)
        for chunk in [first, first.prefix(1024), Data()] {
            previous = key.signature(ofChunk: chunk, after: previous)
            expectedBytes += Data("\(String(chunk.count, radix: 16));chunk-signature=\(previous)\r\n".utf8)
            expectedBytes += chunk + Data("\r\n".utf8)
        }
        #expect(bytes == expectedBytes)
    }

    @Test("A URL of the S3 documentation that is signed in its query gets its signature")
    func query() async throws {
        let credentials = AWSCredentials(
            accessKeyID: "AKIAIOSFODNN7EXAMPLE",
            secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
        )
        var request = try Self.request("https://examplebucket.s3.amazonaws.com/test.txt")
        let signer = Self.signer("s3", placement: .query(expires: .seconds(86_400)))
        try await signer.sign(&request, with: credentials, at: Date(timeIntervalSince1970: 1_369_353_600))
        let expected = "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404"
        #expect(Self.signature(of: request) == expected)
        #expect(request.headers.isEmpty)
        let items = try #require(request.query?.split(separator: "&").map { $0.prefix { $0 != "=" } })
        #expect(items.first == "X-Amz-Algorithm")
        #expect(items.last == "X-Amz-Signature")
    }

    @Test("The suite that AWS publishes gets its signatures", .enabled(if: AWSSuite.folder != nil, "AWS_SIGNING_SUITE"))
    func foreignSuite() async throws {
        for test in try AWSSuite.all() {
            for placement in ["header", "query"] {
                var request = test.request
                var signer = AWSSigner(
                    region: test.region,
                    service: test.service,
                    placement: placement == "query" ? .query(expires: .seconds(test.expires)) : .header
                ) { _ in test.credentials }
                (signer.pathForm, signer.statesPayloadHash) = (test.pathForm, test.statesPayloadHash)
                try await signer.sign(&request, with: test.credentials, at: test.date)
                let expected = try test.text("\(placement)-signature.txt")
                #expect(Self.signature(of: request) == expected, "\(test.name), \(placement)")
            }
        }
    }

    @Test(
        "Random requests get the same signatures as from botocore",
        .enabled(if: AWSSuite.requestFile != nil, "AWS_SIGNED_REQUESTS")
    )
    func botocore() async throws {
        let requests = try AWSSuite.signedRequests()
        for (number, test) in requests.enumerated() {
            let credentials = AWSCredentials(
                accessKeyID: "AKIDEXAMPLE",
                secretAccessKey: test.secret,
                sessionToken: test.token
            )
            let placement = test.placement == "query" ? AWSSigner.Placement.query(expires: .seconds(3600)) : .header
            let signer = Self.signer(test.service, region: "eu-west-1", placement: placement)
            var fields = HTTPFields()
            for (name, value) in test.headers { fields[.named(name)] = value }
            let body = test.body.isEmpty ? PipelineBody.absent : .bytes(Data(test.body.utf8))
            let method = try #require(HTTPRequest.Method(test.method))
            var request = try Self.request(test.url, method, body: body, fields: fields)
            let date = Date(timeIntervalSince1970: Double(test.time))
            try await signer.sign(&request, with: credentials, at: date)
            #expect(Self.signature(of: request) == test.signature, "\(number): \(test.url)")
        }
        #expect(!requests.isEmpty)
    }

    // MARK: Requests

    @Test(
        "A path is normalized and encoded a second time, except for S3",
        arguments: [
            ("/a//b/../c/", "/a/c/", "/a//b/../c/"), ("/a%20b", "/a%2520b", "/a%20b"), ("/..", "/", "/.."),
            ("/a/.", "/a/", "/a/."), ("/%E1%88%B4+x", "/%25E1%2588%25B4%2Bx", "/%E1%88%B4%2Bx"), ("", "/", "/"),
            ("/k=(1)*!'@:~/%2f%7E", "/k%3D%281%29%2A%21%27%40%3A~/%252f%257E", "/k%3D%281%29%2A%21%27%40%3A~/%2F~"),
        ]
    )
    func paths(path: String, normal: String, once: String) throws {
        var request = try Self.request("https://a.test/")
        request.head.path = path
        for (form, expected) in [(AWSCanonicalRequest.PathForm.normalized, normal), (.encodedOnce, once)] {
            let canonical = AWSCanonicalRequest(request, query: [], path: form, payloadHash: "h")
            #expect(canonical.text.split(separator: "\n", omittingEmptySubsequences: false)[1] == expected)
        }
    }

    @Test("For S3, a reserved character gets the same signature in each form, and is sent as it is")
    func reserved() async throws {
        var signatures: Set<String?> = []
        for path in ["/C++(1)=*", "/C%2b%2B%281%29%3D%2A"] {
            var request = try Self.request("https://a.test/")
            request.head.path = path
            try await Self.signer("s3").sign(&request, with: Self.credentials, at: Self.date)
            #expect(request.head.path == path)
            signatures.insert(Self.signature(of: request))
        }
        #expect(signatures.count == 1)
    }

    @Test("The host is sent as it is signed", arguments: ["A.Test:443", "a.test"])
    func host(authority: String) async throws {
        var request = try Self.request("https://a.test/")
        request.head.authority = authority
        try await Self.signer().sign(&request, with: Self.credentials, at: Self.date)
        #expect(request.head.authority == "a.test")
        let canonical = AWSCanonicalRequest(request, query: [], path: .normalized, payloadHash: "h")
        #expect(canonical.text.contains("\nhost:a.test\n"))
    }

    @Test("Query items are sorted by their encoded names, then by their values")
    func items() throws {
        var request = try Self.request("https://a.test/")
        request.head.path = "/?b=2&a=%2f&b=1&c&A=x%20y&a-b=1&d=%fF%"
        let canonical = AWSCanonicalRequest(request, query: [("a", "0")], path: .encodedOnce, payloadHash: "h")
        let line = canonical.text.split(separator: "\n", omittingEmptySubsequences: false)[2]
        #expect(line == "A=x%20y&a=%2F&a=0&a-b=1&b=1&b=2&c=&d=%FF%25")
    }

    @Test("Fields that transports, proxies and traces set are not signed, and repeated ones are joined")
    func fields() throws {
        var fields: HTTPFields = [
            .userAgent: "x", .acceptEncoding: "gzip", .named("traceparent"): "x", .named("X-My"): " a   b ",
            .contentType: "text/plain",
        ]
        fields.append(HTTPField(name: .named("X-My"), value: "c"))
        let request = try Self.request("https://a.test:8443/", fields: fields)
        let canonical = AWSCanonicalRequest(request, query: [], path: .encodedOnce, payloadHash: "h")
        #expect(canonical.signedNames == "content-type;host;x-my")
        #expect(canonical.text.contains("host:a.test:8443\nx-my:a b,c\n"))
    }

    @Test("A session token is sent and signed, and all fields that are added are secret")
    func sessionToken() async throws {
        let transport = ScriptedTransport { _, _ in .status(200) }
        let credentials = AWSCredentials(accessKeyID: "a", secretAccessKey: "canary-key", sessionToken: "canary-token")
        let signer = AWSSigner(region: "r", service: "s3") { _ in credentials }
        let provider = Provider<Ask>(transport: transport, plugins: [SigningPlugin(signer)])
        let response = try await provider.request(Ask())
        let sent = transport.sent[0]
        #expect(sent.headers[.authorization]?.contains("x-amz-date;x-amz-security-token,") == true)
        let names = ["X-Amz-Date", "X-Amz-Content-Sha256", "X-Amz-Security-Token"]
        #expect(names.allSatisfy { sent.headers.contains(.named($0)) && sent.isSecret(.named($0)) })
        let signature = try #require(Self.signature(of: sent))
        var dumped = ""
        dump(credentials, to: &dumped)
        dump(signer, to: &dumped)
        dump(response, to: &dumped)
        for text in [dumped, "\(response)", String(reflecting: response), sent.curlCommand(), "\(sent)"] {
            #expect(!text.contains("canary") && !text.contains(signature))
        }
    }

    @Test("A signature in the query is hidden in URLs and cURL commands")
    func secretQuery() async throws {
        let transport = ScriptedTransport { _, _ in .status(200) }
        let credentials = AWSCredentials(accessKeyID: "AKCANARY", secretAccessKey: "k", sessionToken: "canary-token")
        let signer = AWSSigner(region: "r", service: "s3", placement: .query(expires: .seconds(60))) { _ in credentials
        }
        let provider = Provider<Ask>(transport: transport, plugins: [SigningPlugin(signer)])
        _ = try await provider.request(Ask(path: "/b"))
        let sent = transport.sent[0]
        let signature = try #require(Self.signature(of: sent))
        for text in [
            sent.curlCommand(), "\(sent)", Redactor.standard.url(of: sent), Redactor.development.url(of: sent),
        ] {
            #expect(!text.contains(signature) && !text.contains("canary-token") && !text.contains("AKCANARY"))
        }
        #expect(sent.query?.contains("&X-Amz-Security-Token=canary-token&X-Amz-SignedHeaders=") == true)
    }

    @Test("The items of a signature follow the query", arguments: ["/b", "/b?", "/b?a=1"])
    func appended(path: String) async throws {
        var request = try Self.request("https://a.test/")
        request.head.path = path
        let signer = Self.signer("s3", placement: .query(expires: .seconds(60)))
        try await signer.sign(&request, with: Self.credentials, at: Self.date)
        let separator = path.hasSuffix("b") ? "?" : path.hasSuffix("?") ? "" : "&"
        #expect(request.head.path?.hasPrefix(path + separator + "X-Amz-Algorithm=") == true)
    }

    @Test("A stream that can be read only once is refused unless it is not signed", arguments: ["service", "s3"])
    func stream(service: String) async throws {
        let body = PipelineBody.stream(AsyncStream<Data> { $0.finish() }, byteCount: nil)
        var request = try Self.request("https://a.test/", .put, body: body)
        let signer = Self.signer(service)
        let error = await #expect(throws: PipelineError.self) {
            try await signer.sign(&request, with: Self.credentials, at: Self.date)
        }
        #expect(error?.code == .invalidRequest(.body))
        #expect(!request.headers.contains(.authorization))
        try await Self.signer(service, signsBody: false).sign(&request, with: Self.credentials, at: Self.date)
        #expect(request.headers[.named("X-Amz-Content-Sha256")] == "UNSIGNED-PAYLOAD")
        #expect(request.headers[.authorization]?.contains("host;x-amz-content-sha256;x-amz-date,") == true)
    }

    @Test("A body that can be read again is hashed as its bytes are")
    func replayable() async throws {
        let pieces = [Data("ab".utf8), Data("c".utf8)]
        var signatures: Set<String?> = []
        for body: PipelineBody in [
            .bytes(Data("abc".utf8)),
            .stream(
                byteCount: nil,
                replaying: {
                    AsyncStream<Data> { continuation in
                        for piece in pieces { continuation.yield(piece) }
                        continuation.finish()
                    }
                }
            ),
        ] {
            var request = try Self.request("https://a.test/", .put, body: body)
            try await Self.signer("s3").sign(&request, with: Self.credentials, at: Self.date)
            let hash = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
            #expect(request.headers[.named("X-Amz-Content-Sha256")] == hash)
            #expect(try await request.body.collect(upTo: 10) == Data("abc".utf8))
            signatures.insert(Self.signature(of: request))
        }
        #expect(signatures.count == 1)
    }

    @Test("A signature in the query replaces the one that a redirect repeats")
    func redirectedQuery() async throws {
        let transport = ScriptedTransport { request, index in
            let query = request.query ?? ""
            return index == 0
                ? .status(307, headers: [.location: "https://eu.a.test/c?versionId=2&\(query)"]) : .status(200)
        }
        let credentials = AWSCredentials(accessKeyID: "a", secretAccessKey: "k", sessionToken: "t")
        let signer = AWSSigner(region: "r", service: "s3", placement: .query(expires: .seconds(60))) { _ in credentials
        }
        let plugin = SigningPlugin(signer, scope: .hosts(["a.test", "*.a.test"]))
        _ = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(Ask())
        let names = try transport.sent.map { sent in
            try #require(sent.query).split(separator: "&").map { $0.prefix { $0 != "=" } }
        }
        #expect(names[1] == ["versionId"] + names[0])
        #expect(Self.signature(of: transport.sent[0]) != Self.signature(of: transport.sent[1]))
    }

    @Test(
        "Only the items of a signature are taken out of a query",
        arguments: [
            ("/a", "/a"), ("/a?", "/a?"), ("/a?x&X-Amz-Signature=1&&y=2", "/a?x&&y=2"), ("/a?X-Amz-Date=1", "/a"),
            ("/a?x-amz-date=1&X-Amz-Other", "/a?x-amz-date=1&X-Amz-Other"),
        ]
    )
    func removal(target: String, expected: String) {
        #expect(AWSCanonicalRequest.withoutSignature(target) == expected)
    }

    @Test(
        "Pieces of any size are sent in chunks of 64 KiB",
        arguments: [(1, 1), (65_536, 65_536), (65_537, 1), (1_000_000, 70_000), (20_000_000, 20_000_000)]
    )
    func pieces(byteCount: Int, pieceByteCount: Int) async throws {
        let block = Data((0..<251).map { UInt8($0) })
        var bytes = Data()
        while bytes.count < byteCount { bytes.append(block.prefix(byteCount - bytes.count)) }
        let stream = AsyncStream<Data> { [bytes] continuation in
            for start in stride(from: 0, to: byteCount, by: pieceByteCount) {
                continuation.yield(bytes[start..<min(start + pieceByteCount, byteCount)])
            }
            continuation.finish()
        }
        let body = PipelineBody.stream(stream, byteCount: byteCount)
        let key = AWSSigningKey(Self.credentials, region: "r", service: "s3", at: Self.date)
        var (content, count) = (Data(), 0)
        for try await chunk in AWSChunks(body: body, key: key, seed: "seed") {
            let head = try #require(chunk.firstRange(of: Data("\r\n".utf8)))
            content += chunk[head.upperBound...].dropLast(2)
            count += chunk.count
        }
        #expect(content == bytes)
        #expect(count == AWSChunks.encodedByteCount(of: byteCount))
    }

    @Test("A signer that has signed before derives another key for another day or another secret")
    func laterKeys() async throws {
        let other = AWSCredentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "other")
        let used = Self.signer()
        for (credentials, date) in [
            (Self.credentials, Self.date), (Self.credentials, Self.date + 86_400), (other, Self.date + 86_400),
            (other, Self.date + 86_401),
        ] {
            var requests = [try Self.request("https://a.test/"), try Self.request("https://a.test/")]
            try await used.sign(&requests[0], with: credentials, at: date)
            try await Self.signer().sign(&requests[1], with: credentials, at: date)
            #expect(requests[0].headers == requests[1].headers)
        }
    }

    @Test("Each attempt is signed for its own time")
    func attempts() async throws {
        let clock = ManualClock(date: Self.date)
        let transport = ScriptedTransport { _, index in .status(index == 0 ? 503 : 200) }
        let retry = RetryPlugin(backoff: .constant(.seconds(600)))
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [retry, SigningPlugin(Self.signer())],
            configuration: ProviderConfiguration(clock: PipelineClock(clock))
        )
        _ = try await clock.run { try await provider.request(Ask()) }
        let times = transport.sent.map { $0.headers[.named("X-Amz-Date")] }
        #expect(times == ["20150830T123600Z", "20150830T124600Z"])
        #expect(Set(transport.sent.map(Self.signature)).count == 2)
    }
}
