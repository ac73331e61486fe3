import Foundation
import Pipeline
import PipelineTesting

/// How a response is served and read.
enum Serving: CaseIterable {
    /// With `request`, from memory.
    case memory
    /// With `stream`, in pieces of 1, 7 or 16,384 bytes.
    case ones, sevens, blocks

    var pieceByteCount: Int? {
        switch self {
        case .memory: nil
        case .ones: 1
        case .sevens: 7
        case .blocks: 16_384
        }
    }
}

/// A response in a content coding, as the caller receives it through plugins.
struct CodedAnswer: Sendable {
    struct Read: Sendable {
        let data: Data
        let headers: HTTPFields
    }

    var body: Data
    var coding: String? = "gzip"
    var status = 200
    var method: HTTPRequest.Method = .get
    var requestHeaders: [String: String]?
    var plugins: [any PluginType] = [GzipPlugin()]
    var limits = ProviderConfiguration.Limits()
    var decodesContent = false

    var fields: HTTPFields {
        var fields: HTTPFields = [.contentLength: String(body.count), .eTag: "\"v1\""]
        fields[.contentEncoding] = coding
        return fields
    }

    func read(_ serving: Serving) async throws -> Read {
        let answer = PipelineBody.bytes(body)
        let pieces = serving.pieceByteCount.map { Pieces(body, of: $0) }
        let step = ScriptedTransport.Step.status(status, headers: fields, body: pieces.map { .stream($0) } ?? answer)
        let transport = ScriptedTransport(always: step, decodesContent: decodesContent)
        let provider = Provider<Ask>(transport: transport, plugins: plugins, configuration: .init(limits: limits))
        let target = Ask(method: method, headers: requestHeaders)
        guard pieces != nil else {
            let response = try await provider.request(target)
            return Read(data: response.data, headers: response.headers)
        }
        let response = try await provider.stream(target)
        var data = Data()
        for try await chunk in response.body {
            data += chunk
        }
        return Read(data: data, headers: response.headers)
    }

    /// Returns the code of the failure, or `nil` if there is none.
    func code(_ serving: Serving) async throws -> PipelineError.Code? {
        do {
            _ = try await read(serving)
            return nil
        } catch let error as PipelineError {
            return error.code
        }
    }
}
