/* message_text: what may stand in a text field, for the encoder, the decoder and the printer. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* Length of the well-formed, printable UTF-8 character at p (1..4), or 0: bytes that are not UTF-8,
 * a C0 or C1 control, DEL, a surrogate, an overlong form. Text that passes can neither end a line
 * nor steer a terminal. Unicode 15, table 3-7. */
static inline size_t text_char(const uint8_t *p, size_t n)
{
    if (n == 0 || p[0] < 0x20 || p[0] == 0x7f)
        return 0;
    if (p[0] < 0x80)
        return 1;
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || n < len)
        return 0;
    for (size_t i = 1; i < len; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    if ((p[0] == 0xc2 && p[1] < 0xa0) || (p[0] == 0xe0 && p[1] < 0xa0) ||
        (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf0 && p[1] < 0x90) ||
        (p[0] == 0xf4 && p[1] > 0x8f))
        return 0;
    return len;
}
