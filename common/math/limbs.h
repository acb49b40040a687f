/* limbs: the multi-precision steps under field_template.h, in the variant being compiled. */
#pragma once
#if defined(MATH_ADX) && defined(__OPTIMIZE__) && defined(__x86_64__)
#include "limbs_adx.h"
#else
#include "limbs_portable.h"
#endif
