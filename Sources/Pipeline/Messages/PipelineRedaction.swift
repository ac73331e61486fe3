// Whoever imports Pipeline has the redactor.
@_exported public import PipelineRedaction
