/* shim: joins one circuit, as wasm2c wrote it (circ.c, circ.h), to the table in abi.h.
 *
 * Compiled by program_build together with circ.c and wabt's wasm-rt-impl.c into one shared object;
 * never part of a daemon or of the runner itself. */
#include <string.h>
#include "circ.h"
#include "wasm-rt-impl.h"
#include "abi.h"

static Z_circ_instance_t circuit;
static volatile int stopped_with; /* circom's error code, set by exceptionHandler */
static char text[1024];
static size_t text_len;
static struct program_facts facts;

/* circom hands its message over one character a call; 0 ends it. */
static void collect_message(void)
{
    for (int i = 0; i < 4096; i++) {
        u32 c = Z_circZ_getMessageChar(&circuit);
        if (c == 0)
            break;
        if (text_len + 1 < sizeof text)
            text[text_len++] = (char)c;
    }
    if (text_len + 1 < sizeof text && text_len > 0 && text[text_len - 1] != '\n')
        text[text_len++] = '\n';
    text[text_len] = 0;
}

/* The imports of a circom module. A handler may not return into code that has failed, so it leaves
 * through wabt's trap path and guarded() reads the code. */
void Z_runtimeZ_exceptionHandler(struct Z_runtime_instance_t *unused, u32 code)
{
    (void)unused;
    stopped_with = code == 0 ? PROGRAM_TRAPPED - 1 : (int)code;
    wasm_rt_trap(WASM_RT_TRAP_UNREACHABLE);
}

void Z_runtimeZ_printErrorMessage(struct Z_runtime_instance_t *unused)
{
    (void)unused;
    collect_message();
}

/* log() in a circuit: its text and values are the witness's and are dropped, unread. */
void Z_runtimeZ_writeBufferMessage(struct Z_runtime_instance_t *unused)
{
    (void)unused;
    for (int i = 0; i < 4096 && Z_circZ_getMessageChar(&circuit) != 0; i++)
        ;
}

void Z_runtimeZ_showSharedRWMemory(struct Z_runtime_instance_t *unused)
{
    (void)unused;
}

static int trapped(int trap)
{
    return stopped_with != 0 ? stopped_with : PROGRAM_TRAPPED + trap;
}

static uint8_t *shared_words(void)
{
    wasm_rt_memory_t *m = Z_circZ_memory(&circuit);
    u32 at = Z_circZ_getSharedRWMemoryStart(&circuit);
    if (at > m->size || m->size - at < 32)
        wasm_rt_trap(WASM_RT_TRAP_OOB);
    return m->data + at;
}

static int program_open(struct program_facts *out)
{
    wasm_rt_init();
    int trap = wasm_rt_impl_try();
    if (trap != 0)
        return trapped(trap);
    Z_circ_init_module();
    Z_circ_instantiate(&circuit, NULL);
    facts.circom_version[0] = Z_circZ_getVersion(&circuit);
    facts.circom_version[1] = Z_circZ_getMinorVersion(&circuit);
    facts.circom_version[2] = Z_circZ_getPatchVersion(&circuit);
    facts.field_words = Z_circZ_getFieldNumLen32(&circuit);
    Z_circZ_init(&circuit, 0);
    facts.n_inputs = Z_circZ_getInputSize(&circuit);
    facts.n_witness = Z_circZ_getWitnessSize(&circuit);
    if (facts.field_words == 8) {
        Z_circZ_getRawPrime(&circuit);
        memcpy(facts.prime, shared_words(), 32);
    }
    *out = facts;
    return 0;
}

static int program_input_size(uint64_t hash, uint32_t *n)
{
    int trap = wasm_rt_impl_try();
    if (trap != 0)
        return trapped(trap);
    *n = Z_circZ_getInputSignalSize(&circuit, (u32)(hash >> 32), (u32)hash);
    return 0;
}

static int program_set_input(uint64_t hash, uint32_t index, const uint8_t value[32])
{
    int trap = wasm_rt_impl_try();
    if (trap != 0)
        return trapped(trap);
    memcpy(shared_words(), value, 32);
    Z_circZ_setInputSignal(&circuit, (u32)(hash >> 32), (u32)hash, index);
    return 0;
}

static int program_read_witness(uint32_t first, uint32_t n, uint8_t *out)
{
    int trap = wasm_rt_impl_try();
    if (trap != 0)
        return trapped(trap);
    for (uint32_t i = 0; i < n; i++) {
        Z_circZ_getWitness(&circuit, first + i);
        memcpy(out + 32 * (size_t)i, shared_words(), 32);
    }
    return 0;
}

static const char *program_message(void)
{
    return text;
}

extern __attribute__((visibility("default"))) const struct program_abi millrace_program;
const struct program_abi millrace_program = {
    .version = PROGRAM_ABI_VERSION,
    .open = program_open,
    .input_size = program_input_size,
    .set_input = program_set_input,
    .read_witness = program_read_witness,
    .message = program_message,
};
