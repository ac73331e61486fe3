import Hummingbird
import Pipeline

/// The document that the gateway responds with.
struct ProductPage: ResponseCodable, Hashable {
    let id: Int
    let title: String
    let price: PriceTarget.ResultType
    /// `nil` if the reviews could not be loaded.
    let reviews: [ReviewsTarget.Review]?
}

/// Builds pages of products from the responses of the upstreams.
struct ProductPages: Sendable {
    /// The longest time for a page, also if the caller would wait longer.
    private static let timeLimit = Duration.seconds(3)

    let client: UpstreamClient

    /// Returns the page of a product.
    ///
    /// - Parameters:
    ///   - id: the number of the product.
    ///   - timeout: how long the caller waits; `nil` if not known.
    /// - Returns: the page, possibly without reviews.
    /// - Throws: ``Problem``.
    func page(_ id: Int, within timeout: Duration?) async throws -> ProductPage {
        let limit = min(timeout ?? Self.timeLimit, Self.timeLimit)
        do {
            async let item = item(id, within: limit)
            async let price = load(PriceTarget(baseURL: client.upstreams.prices, id: id), within: limit)
            async let reviews = reviews(of: id, within: limit / 2)
            return ProductPage(
                id: id,
                title: try await item.title,
                price: try await price,
                reviews: try await reviews
            )
        } catch let error as PipelineError {
            throw Problem(error)
        }
    }

    private func load<Target: UpstreamTarget>(
        _ target: Target,
        within limit: Duration
    ) async throws -> sending Target.ResultType {
        try await client.provider.requestDecoded(target, options: RequestOptions { $0.totalTimeout = limit })
    }

    private func item(_ id: Int, within limit: Duration) async throws -> CatalogTarget.ResultType {
        do {
            return try await load(CatalogTarget(baseURL: client.upstreams.catalog, id: id), within: limit)
        } catch let error as PipelineError where error.status == .notFound {
            throw Problem(.notFound, "There is no product \(id).")
        }
    }

    /// Returns the reviews, or `nil` if their server fails or takes longer than its share of the time.
    private func reviews(of id: Int, within limit: Duration) async throws -> [ReviewsTarget.Review]? {
        do {
            return try await load(ReviewsTarget(baseURL: client.upstreams.reviews, id: id), within: limit)
        } catch is PipelineError {
            return nil
        }
    }
}
