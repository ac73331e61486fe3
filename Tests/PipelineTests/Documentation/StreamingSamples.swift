import Foundation
import HTTPTypes
import Pipeline

/// The samples of the guide on streaming.
enum StreamingSamples {
    enum Feed: TargetType {
        case export
        case log
        case prices
        case answer(to: String)
        case news

        var baseURL: URL { Endpoint.url("https://feed.example") }
        var path: String { "feed" }
        var method: HTTPMethod { .get }
        var task: RequestTask { .requestPlain }
    }

    struct Price: Decodable {}
    struct Token: Decodable {}
    struct News: Decodable {}

    static func pieces(_ provider: Provider<Feed>, _ file: inout Data) async throws {
        // sample: pieces
        let answer = try await provider.stream(Feed.export)
        for try await piece in answer.body {
            file.append(piece)
        }
        // end
    }

    static func lines(_ provider: Provider<Feed>, show: (Price) -> Void) async throws {
        // sample: lines
        for try await line in try await provider.stream(Feed.log).lines() {
            print(line)
        }
        for try await price in try await provider.stream(Feed.prices).jsonLines(as: Price.self) {
            show(price)
        }
        // end
    }

    static func answer(_ provider: Provider<Feed>, question: String, append: (Token) -> Void) async throws {
        // sample: events
        for try await event in try await provider.stream(Feed.answer(to: question)).serverSentEvents() {
            append(try event.map(Token.self))
        }
        // end
    }

    static func subscription(_ provider: Provider<Feed>, _ bookmark: inout String, show: (News) -> Void) async throws {
        // sample: subscription
        for try await event in provider.serverSentEvents(Feed.news, lastEventID: bookmark) {
            show(try event.map(News.self))
            bookmark = event.id
        }
        // end
    }

    static func notices(
        _ provider: Provider<Feed>,
        _ bookmark: inout String,
        show: (News) -> Void,
        showBanner: (String) -> Void,
        hideBanner: () -> Void
    ) async throws {
        // sample: notices
        let news = provider.serverSentEvents(Feed.news, lastEventID: bookmark)
        for try await notice in news.notices {
            if let event = notice.event { show(try event.map(News.self)) }
            if notice.response != nil { hideBanner() }
            if let wait = notice.reconnection { showBanner("Offline, trying in \(wait.delay)") }
            bookmark = news.lastEventID
        }
        // end
    }

    static func policy(_ provider: Provider<Feed>) -> [ServerSentEventSubscription] {
        // sample: policy
        let patient = ReconnectionPolicy(reconnectionTime: .seconds(1), maximumFailedAttempts: nil) { error in
            ReconnectionPolicy.isNetworkFailure(error) || error.response?.statusCode == 503
        }
        let events = provider.serverSentEvents(Feed.news, reconnection: patient)
        let once = provider.serverSentEvents(Feed.news, reconnection: .never)
        // end
        return [events, once]
    }

    static func idle(_ provider: Provider<Feed>) -> ServerSentEventSubscription {
        // sample: idle
        let alive = provider.serverSentEvents(Feed.news, options: .init { $0.idleTimeout = .seconds(45) })
        // end
        return alive
    }

    static func upload(_ readings: AsyncStream<Data>) -> RequestTask {
        // sample: upload of a stream
        RequestTask.requestStream(.stream(readings))
        // end
    }
}
