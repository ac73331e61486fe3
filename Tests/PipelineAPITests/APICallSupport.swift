import Pipeline
import PipelineAPI
import Testing

extension APICall {
    /// Executes the call and waits until its last handler has run.
    func finished() async {
        await execute().value
    }
}
