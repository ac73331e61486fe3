import Pipeline
import TestSupport
import Testing

@Suite("Durations in messages", .watched)
struct DurationTextTests {
    @Test(
        "A duration is shown in milliseconds below 10 s, else in seconds, with at most one decimal",
        arguments: [
            (Duration.zero, "0 ms"), (.microseconds(50), "0 ms"), (.microseconds(550), "0.5 ms"),
            (.milliseconds(9.9), "9.9 ms"), (.milliseconds(10.9), "10 ms"), (.seconds(7), "7000 ms"),
            (.milliseconds(9_999), "9999 ms"), (.seconds(10), "10 s"), (.milliseconds(61_550), "61.5 s"),
            (.seconds(Int64.max), "9223372036854775807 s"), (.seconds(Int64.min), "-9223372036854775808 s"),
        ]
    )
    func text(duration: Duration, text: String) {
        #expect(PipelineError.text(of: duration) == text)
    }
}
