#include "CNetSpoolShims.h"
