@_exported public import PipelineAPI
// Source that imports only PipelineCombine uses `Provider` and `APIClient`.
@_exported public import PipelineCore
