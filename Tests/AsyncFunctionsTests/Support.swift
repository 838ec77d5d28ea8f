// Spares each file the import that all of them need.
@_exported import TestSupport
