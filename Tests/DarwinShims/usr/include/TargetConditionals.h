#pragma once
#define TARGET_OS_TV 0
#define TARGET_OS_WATCH 0
