import Dispatch
import Pipeline
import TestSupport
import Testing

@Suite("Where callbacks run", .tags(.concurrent), .watched)
struct CallbackPlaceTests {
    private let key = DispatchSpecificKey<String>()
    private let queue = DispatchQueue(label: "callbacks")
    private let journal = Journal()

    init() {
        queue.setSpecific(key: key, value: "queue")
        DispatchQueue.main.setSpecific(key: key, value: "main")
    }

    private var location: String {
        DispatchQueue.getSpecific(key: key) ?? "elsewhere"
    }

    @Test("The cancellation check runs in the same place as the callback, immediately before it")
    func question() async {
        let note = { @Sendable [self] (what: String) in journal.add("\(what) \(location)") }
        let isOn = { @Sendable in
            note("asked")
            return false
        }
        let isOff = { @Sendable in
            note("asked")
            return true
        }
        let place = CallbackPlace(executor: .queue(queue))
        #expect(await place.run(isolatedTo: nil, unless: isOn) { note("ran") })
        #expect(await place.run(isolatedTo: MainActor.shared, unless: isOn) { note("ran") })
        #expect(await !place.run(isolatedTo: nil, unless: isOff) { note("ran") })
        #expect(journal.entries == ["asked queue", "ran queue", "asked main", "ran main", "asked queue"])
    }
}
