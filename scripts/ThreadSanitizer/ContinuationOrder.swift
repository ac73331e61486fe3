// Informs ThreadSanitizer of the order that a continuation establishes. scripts/thread-sanitizer links this file into the
// tests, and the linker option --wrap replaces the library's functions with these.
//
// Resuming a continuation releases its task, and a suspended task acquires that release when it is scheduled. If the
// continuation is resumed before the task suspends, the task continues immediately. On this path,
// libswift_Concurrency.so does not acquire, because it is not instrumented. ThreadSanitizer then reports what the other
// thread did before the resumption as a race. These functions call the library and then acquire. They hide no real race:
// what the other thread does after the resumption is still reported.

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
