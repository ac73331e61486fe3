// Tells ThreadSanitizer what a continuation orders; linked into tests by scripts/thread-sanitizer, whose linker puts these functions
// in the place of those of the library.
//
// Who resumes a continuation releases its task, and a task that is suspended acquires that when it is scheduled. But a task whose continuation
// has been resumed before it waits goes on at once, and there libswift_Concurrency.so, which is not instrumented, does not
// acquire: what the other thread has done before is reported as a race. These functions call those of the library and then acquire. They hide
// nothing: what the other thread does after it has resumed the continuation is still reported.

@_silgen_name("acquireCurrentTask") private func acquireCurrentTask()

@_silgen_name("__real_$ss23withCheckedContinuation9isolation8function_xScA_pSgYi_SSyScCyxs5NeverOGXEtYalF")
private func library<Value>(
    isolation: isolated (any Actor)?, function: String, _ body: (CheckedContinuation<Value, Never>) -> Void
) async -> sending Value

@_silgen_name("__wrap_$ss23withCheckedContinuation9isolation8function_xScA_pSgYi_SSyScCyxs5NeverOGXEtYalF")
public func inOrder<Value>(
    isolation: isolated (any Actor)?, function: String, _ body: (CheckedContinuation<Value, Never>) -> Void
) async -> sending Value {
    let value: Value = await library(isolation: isolation, function: function, body)
    acquireCurrentTask()
    return value
}

@_silgen_name("__real_$ss31withCheckedThrowingContinuation9isolation8function_xScA_pSgYi_SSyScCyxs5Error_pGXEtYaKlF")
private func library<Value>(
    isolation: isolated (any Actor)?, function: String, _ body: (CheckedContinuation<Value, any Error>) -> Void
) async throws -> sending Value

@_silgen_name("__wrap_$ss31withCheckedThrowingContinuation9isolation8function_xScA_pSgYi_SSyScCyxs5Error_pGXEtYaKlF")
public func inOrder<Value>(
    isolation: isolated (any Actor)?, function: String, _ body: (CheckedContinuation<Value, any Error>) -> Void
) async throws -> sending Value {
    defer { acquireCurrentTask() }
    return try await library(isolation: isolation, function: function, body)
}
