import ExecutionContexts
import ExecutionContextsObservation
import ExecutionContextsTesting
import ExecutionContextsWork
import Observation

// No public type has the name of a module that the code of a macro names.

@Observable final class Model { var title = "" }
