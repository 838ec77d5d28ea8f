// Re-exported, so that the other files of this target need not import it.
@_exported import TestSupport
