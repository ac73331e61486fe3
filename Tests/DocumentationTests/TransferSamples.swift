import Foundation
import Pipeline
import PipelineResilience

/// The samples of the guides Requests and UploadsAndDownloads.
enum TransferSamples {
    struct Order: Encodable {
        var id = 1
    }

    // sample: tasks
    enum Shop: TargetType {
        case find(text: String)
        case order(Order)
        case receipt(id: Int, to: URL)

        var baseURL: URL { Endpoint.url("https://shop.example/v1") }
        var path: String {
            switch self {
            case .find: "items"
            case .order: "orders"
            case .receipt(let id, _): "orders/\(id)/receipt"
            }
        }
        var method: HTTPMethod {
            switch self {
            case .find, .receipt: .get
            case .order: .post
            }
        }
        var task: RequestTask {
            switch self {
            case .find(let text): .requestQuery(["q": text])
            case .order(let order): .requestJSONEncodable(order)
            case .receipt(_, let file): .downloadDestination(.file(file, options: .removePreviousFile))
            }
        }
    }
    // end

    static func uploadFile(_ video: URL) -> RequestTask {
        // sample: upload file
        RequestTask.uploadFile(video)
        // end
    }

    static func uploadStream(_ makeChunks: @escaping @Sendable () -> AsyncStream<Data>) -> RequestTask {
        // sample: upload stream
        RequestTask.requestStream(.stream(byteCount: 4_096) { makeChunks() })
        // end
    }

    static func download(_ caches: URL) -> RequestTask {
        // sample: download
        let file = caches.appending(path: "cover.jpg")
        let destination = DownloadDestination.file(
            file,
            options: [.createIntermediateDirectories, .removePreviousFile]
        )
        return RequestTask.downloadDestination(destination)
        // end
    }

    static func destinations(_ folder: URL) -> [DownloadDestination] {
        // sample: destinations
        let named = DownloadDestination.suggestedName(in: folder)
        let chosen = DownloadDestination.custom { temporaryFile, response in
            (folder.appending(path: "cover-\(response.statusCode)"), [.removePreviousFile])
        }
        // end
        return [named, chosen]
    }

    static func resumable(_ file: URL) -> DownloadDestination {
        // sample: resumable
        let resumable = DownloadDestination.file(file).resumable(at: file.appendingPathExtension("part"))
        // end
        return resumable
    }

    static func verified(_ file: URL, _ checksum: String) -> DownloadDestination {
        // sample: verified
        let verified = DownloadDestination.file(file).verifying(.sha256(checksum))
        // end
        return verified
    }

    static func limited() -> [any PluginType] {
        // sample: limited
        let plugins: [any PluginType] = [.standard, TransferLimitPlugin(bytesPerSecond: 1 << 20)]
        // end
        return plugins
    }

    struct Receipt: Decodable {
        let id: Int
    }

    static func decoded(
        _ provider: Provider<Shop>,
        _ order: Order,
        show: @escaping @Sendable (Double) -> Void
    ) async throws -> Receipt {
        // sample: decoded
        let receipt = try await provider.request(Shop.order(order), as: Receipt.self) { step in show(step.progress) }
        // end
        return receipt
    }

    static func metered(_ provider: Provider<Shop>, _ files: [URL], show: (Double) -> Void) async throws {
        // sample: metered
        let meter = ProgressResponse.Meter(count: files.count)
        for file in files {
            for try await step in provider.requestWithProgress(Shop.receipt(id: 7, to: file)) {
                show(meter.update(step, of: file).progress)
            }
        }
        // end
    }

    static func progress(
        _ provider: Provider<Shop>,
        _ file: URL,
        show: (Double) -> Void,
        finish: (PipelineResponse) -> Void
    ) async throws {
        // sample: progress
        for try await step in provider.requestWithProgress(Shop.receipt(id: 7, to: file)) {
            show(step.progress)
            if let response = step.response { finish(response) }
        }
        // end
    }

    static func callbacks(
        _ provider: Provider<Shop>,
        _ file: URL,
        show: @escaping @Sendable (Double) -> Void,
        finish: @escaping @Sendable (Result<PipelineResponse, PipelineError>) -> Void
    ) -> Task<Void, Never> {
        // sample: progress by callback
        let handle = provider.request(
            Shop.receipt(id: 7, to: file),
            callbackExecutor: .queue(.main),
            progress: { step in show(step.progress) },
            completion: { result in finish(result) }
        )
        // end
        return handle
    }
}
