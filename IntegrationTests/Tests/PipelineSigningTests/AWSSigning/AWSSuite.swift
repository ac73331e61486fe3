import Foundation
import Pipeline

@testable import PipelineSigning

/// AWS's signing test suite, in the folder that `AWS_SIGNING_SUITE` names; see `scripts/deep/aws-signing/run`.
enum AWSSuite {
    static let folder = ProcessInfo.processInfo.environment["AWS_SIGNING_SUITE"]

    /// The file that `AWS_SIGNED_REQUESTS` names, with requests that botocore has signed.
    static let requestFile = ProcessInfo.processInfo.environment["AWS_SIGNED_REQUESTS"]

    struct SignedRequest: Decodable {
        let method: String
        let url: String
        let headers: [String: String]
        let body: String
        let service: String
        let placement: String
        let secret: String
        let token: String?
        let time: Int
        let signature: String
    }

    static func signedRequests() throws -> [SignedRequest] {
        try JSONDecoder().decode([SignedRequest].self, from: Data(contentsOf: URL(filePath: requestFile ?? "")))
    }

    struct Test {
        let name: String
        let folder: URL
        let request: PipelineRequest
        let credentials: AWSCredentials
        let region: String
        let service: String
        let date: Date
        let expires: Int
        let pathForm: AWSCanonicalRequest.PathForm
        let statesPayloadHash: Bool

        func text(_ file: String) throws -> String {
            try String(contentsOf: folder.appending(path: file), encoding: .utf8)
                .trimmingCharacters(in: .whitespacesAndNewlines)
        }
    }

    private struct Context: Decodable {
        struct Credentials: Decodable {
            let accessKeyId: String
            let secretAccessKey: String
            let token: String?
        }
        let credentials: Credentials
        let expirationInSeconds: Int
        let normalize: Bool
        let region: String
        let service: String
        let signBody: Bool
        let timestamp: Date
        let omitSessionToken: Bool?
    }

    static func all() throws -> [Test] {
        let folder = URL(filePath: folder ?? "")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted()
        return try names.map { try test(in: folder.appending(path: $0)) }
    }

    private static func test(in folder: URL) throws -> Test {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        decoder.dateDecodingStrategy = .iso8601
        let context = try decoder.decode(Context.self, from: Data(contentsOf: folder.appending(path: "context.json")))
        let text = try String(contentsOf: folder.appending(path: "request.txt"), encoding: .utf8)
        return Test(
            name: folder.lastPathComponent,
            folder: folder,
            request: request(text.replacing("\r\n", with: "\n")),
            credentials: AWSCredentials(
                accessKeyID: context.credentials.accessKeyId,
                secretAccessKey: context.credentials.secretAccessKey,
                // Such a token is added to a signed request.
                sessionToken: context.omitSessionToken == true ? nil : context.credentials.token
            ),
            region: context.region,
            service: context.service,
            date: context.timestamp,
            expires: context.expirationInSeconds,
            pathForm: context.normalize ? .normalized : .encoded,
            statesPayloadHash: context.signBody
        )
    }

    private static func request(_ text: String) -> PipelineRequest {
        let parts = text.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = parts[0].split(separator: "\n")
        let line = lines[0].split(separator: " ", maxSplits: 1)
        var head = HTTPRequest(
            method: HTTPRequest.Method(String(line[0])) ?? .get,
            scheme: "https",
            authority: nil,
            path: String(line[1].dropLast(" HTTP/1.1".count))
        )
        var fields: [(name: String, value: String)] = []
        for line in lines.dropFirst() {
            if line.first == " ", let last = fields.popLast() {
                // A folded line.
                fields.append((last.name, last.value + line))
            } else {
                let pair = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                fields.append((String(pair[0]), String(pair[1])))
            }
        }
        for field in fields {
            if field.name.lowercased() == "host" {
                head.authority = field.value
            } else {
                head.headerFields.append(HTTPField(name: .named(field.name), value: field.value))
            }
        }
        let body = parts.count > 1 ? Data(parts[1].utf8) : Data()
        return PipelineRequest(head: head, body: body.isEmpty ? .absent : .bytes(body))
    }
}
