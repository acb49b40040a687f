/* The passes over both scalar fields, in the variant being compiled. */
#include "fields.h"

#define FIELD bn254_fr
#include "ntt_lanes_portable.h"
#include "ntt_template.h"

#define FIELD bls12_381_fr
#include "ntt_lanes_portable.h"
#include "ntt_template.h"
