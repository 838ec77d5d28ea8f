#include "CPlatform.h"

_Thread_local ec_frame *ec_frame_storage = 0;
_Thread_local void *ec_trampoline_storage = 0;
