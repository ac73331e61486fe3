import Foundation
import Pipeline

/// A run, which makes calls against a server and checks what is left of them.
struct Run {
    private static let preludeCount = 300
    /// The first index of the prelude, whose calls differ from those that are counted.
    private static let preludeIndex = 1_000_000_000

    private let options: Options
    private let prediction: Prediction
    private let server: ServerProcess?
    private let url: URL
    private let watch = Watch()

    init(_ options: Options) throws {
        self.options = options
        server = options.transport == .stub ? nil : try ServerProcess(seed: options.seed)
        url = server?.url ?? URL(string: "https://stub.invalid") ?? URL(filePath: "/")
        prediction = Prediction(
            payload: Payload(seed: options.seed),
            hasPlugins: options.hasPlugins,
            hasChaos: options.hasChaos,
            transportDecodes: options.transport == .urlSession
        )
    }

    func figures() async throws -> Figures {
        let watching = watch.start()
        defer { watching.cancel() }
        // A prelude, so that what is loaded only once is not counted.
        var prelude = Figures(options)
        var remains = try await makeCalls(of: [Self.preludeIndex..<Self.preludeIndex + Self.preludeCount], &prelude)
        await settle(remains, within: .seconds(10), nil, &prelude)

        var figures = Figures(options)
        figures.tally = prelude.tally.mismatchesOnly
        let descriptors = ProcessFigures.descriptorCount
        let threads = ProcessFigures.threadCount
        remains = try await makeCalls(of: Rounds(options), &figures)
        await settle(remains, within: .seconds(30), descriptors, &figures)
        if let descriptors, let after = ProcessFigures.descriptorCount { figures.descriptors = (descriptors, after) }
        if let threads, let after = ProcessFigures.threadCount { figures.threads = (threads, after) }
        if let server { figures.serverEndedWell = server.stop() }
        return figures
    }

    /// Makes the calls with a client that is then shut down and dropped.
    private func makeCalls(of rounds: some Sequence<Range<Int>>, _ figures: inout Figures) async throws -> Remains {
        let client = Client(options, prediction.payload)
        let crew = Crew(client: client, prediction: prediction, url: url, options: options, watch: watch)
        for round in rounds {
            let start = ContinuousClock.now
            figures.tally.add(await crew.run(round))
            figures.callCount += round.count
            figures.duration += ContinuousClock.now - start
            if figures.isMemoryMeasured { await sample(&figures) }
        }
        figures.exchangeCount = client.witness.count
        // A shared exchange ends slightly later than the last of its calls.
        await wait(.seconds(30)) { client.witness.liveCount == 0 }
        figures.liveExchangeCount = client.witness.liveCount
        try await client.shutdown()
        return client.remains()
    }

    private func sample(_ figures: inout Figures) async {
        // The runtime keeps the timer of a cancelled sleep until the sleep would have ended, at most one second later.
        try? await Task.sleep(for: .milliseconds(1_200))
        guard let byteCount = ProcessFigures.residentByteCount else { return }
        figures.samples.append(.init(callCount: figures.callCount, byteCount: byteCount))
    }

    /// Waits until nothing is left, but no longer than the limit.
    private func settle(
        _ remains: Remains,
        within limit: Duration,
        _ descriptors: Int?,
        _ figures: inout Figures
    ) async {
        let start = ContinuousClock.now
        await wait(limit) {
            remains.names.isEmpty && (server?.openConnectionCount() ?? 0) == 0
                && (descriptors == nil || ProcessFigures.descriptorCount == descriptors)
        }
        figures.settling = ContinuousClock.now - start
        figures.remains = remains.names
        figures.openConnectionCount = server?.openConnectionCount()
    }

    private func wait(_ limit: Duration, until isOver: () -> Bool) async {
        let end = ContinuousClock.now + limit
        while !isOver(), ContinuousClock.now < end { try? await Task.sleep(for: .milliseconds(10)) }
    }
}

/// The indexes of the calls in rounds.
///
/// Memory is measured after each round.
struct Rounds: Sequence, IteratorProtocol {
    private let count: Int
    private let size: Int
    private let end: ContinuousClock.Instant?
    private var index = 0

    init(_ options: Options) {
        count = options.callCount
        size = options.minutes == nil ? Swift.max(2_500, count / 12) : 20_000
        end = options.minutes.map { .now + .seconds($0 * 60) }
    }

    mutating func next() -> Range<Int>? {
        if let end {
            guard ContinuousClock.now < end else { return nil }
        } else {
            guard index < count else { return nil }
        }
        let last = end == nil ? Swift.min(index + size, count) : index + size
        defer { index = last }
        return index..<last
    }
}
