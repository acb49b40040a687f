/* store: the names that a circuit, its program and its sources have below an instance's DIR/store.
 *
 *   store/HEX.circuit        the prepared file; HEX is its digest in hexadecimal
 *   store/HEX.program        symbolic link to the circuit's witness program in store/programs/
 *   store/programs/          programs, named by the hash of their content
 *   store/sources/ID         symbolic link whose target is HEX: the key file with this (device,
 * inode, size, times) was prepared into that circuit
 *
 * Whoever opens such a file opens it relative to the instance's directory descriptor. A key file
 * that is named again is recognised by what stat says of it, never hashed again; a file that was
 * written to has other times, so it is another source. Nothing here locks: files appear by rename,
 * links by rename too. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include "err.h"

enum { STORE_NAME_MAX = 160, DIGEST_BYTES = 32, DIGEST_HEX = 64 };

void digest_to_hex(const uint8_t digest[DIGEST_BYTES], char hex[DIGEST_HEX + 1]);
bool digest_from_hex(uint8_t digest[DIGEST_BYTES], const char *hex); /* 64 digits, lower case */

/* "store/HEX.circuit", "store/HEX.program": relative to the instance's directory. Return out. */
const char *store_circuit_name(const uint8_t digest[DIGEST_BYTES], char out[STORE_NAME_MAX]);
const char *store_program_name(const uint8_t digest[DIGEST_BYTES], char out[STORE_NAME_MAX]);

/* The circuit that the key file (with the .r1cs, when not NULL) was prepared into before and that
 * is still in the store; false when there is none. */
bool store_find_source(int dir_fd, const char *key_path, const char *r1cs_path,
                       uint8_t digest[DIGEST_BYTES]);
/* Remembers it. The caller has stat'ed nothing itself; a file that changes while it is prepared
 * must be told apart by the caller with store_source_id before and after. */
enum err_code store_add_source(int dir_fd, const char *source_id,
                               const uint8_t digest[DIGEST_BYTES], struct err *e);
/* The ID of a key file (and .r1cs): what stat says, as text. ERR_IO when it cannot be stat'ed. */
enum err_code store_source_id(const char *key_path, const char *r1cs_path, char out[STORE_NAME_MAX],
                              struct err *e);

/* Ties a built program (its path below DIR/store/programs) to a circuit; replaces an earlier one.
 */
enum err_code store_set_program(int dir_fd, const uint8_t digest[DIGEST_BYTES],
                                const char *program_file, struct err *e);
/* Removes the circuit's file, program link and source links. Missing ones are no error. */
enum err_code store_remove(int dir_fd, const uint8_t digest[DIGEST_BYTES], struct err *e);
