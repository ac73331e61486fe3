// Source that imports only PipelineCombine uses `Provider` and `APIClient`.
@_exported public import Pipeline
@_exported public import PipelineAPI
