/* message_table: the one table of messages. Structs, encoder, decoder, printer, fuzzer and the
 * protocol page come from it; nothing else knows a layout.
 *
 * On the wire a message is one frame of at most MESSAGE_BYTES_MAX bytes: one msgpack array
 * [kind, version, field, field, ...] of exactly as many elements as the table says.
 *
 *   M(KIND, kind, version, lane, from, to, doc)
 *   F(type, name, limit, secrecy, doc)
 *     U8 U32 U64  unsigned integer, at most `limit`
 *     STR         UTF-8 text without control characters, at most `limit` bytes; char name[limit +
 * 1] BIN         bytes, at most `limit`; uint8_t name[limit], uint32_t name_len HASH        exactly
 * 32 bytes (limit is 32) BLOB        bytes, at most `limit`; a view (struct blob) into the frame:
 * borrowed SECRET fields are blanked on the tap and in every printed form.
 *
 * A field is added at the end with a new version of its message; the decoder takes exactly the
 * version of the table (daemons of one instance are of one build, and HELLO carries the protocol's
 * number for everyone else). */
#pragma once

#define WHO_DAEMONS (ACTOR_BIT(SYNTHD) | ACTOR_BIT(GPUD))
#define WHO_STARTED (WHO_DAEMONS | ACTOR_BIT(SUPERVISOR))
#define WHO_DESK    ACTOR_BIT(FINALIZD)
#define WHO_ASKERS  (ACTOR_BIT(CLIENT) | ACTOR_BIT(GATEWAY) | ACTOR_BIT(SUPERVISOR))

/* Which attempt at which partition: struct lease_ref and what people call it by. */
#define LEASE_FIELDS(F)                                                                            \
    F(U64, arena_epoch, UINT64_MAX, OPEN, "which making of the arena")                             \
    F(U32, node, 255, OPEN, "NUMA node of the arena")                                              \
    F(U32, row, 65535, OPEN, "row of the lease table")                                             \
    F(U32, generation, 0xffffff, OPEN, "generation in the lease word")                             \
    F(U64, job, UINT64_MAX, OPEN, "job")                                                           \
    F(U32, partition, UINT32_MAX, OPEN, "partition of the job, from 0")                            \
    F(U32, attempt, UINT32_MAX, OPEN, "attempt at it, from 1")

/* --- the desk lane ------------------------------------------------------------------------- */

#define FIELDS_hello(F)                                                                            \
    F(U32, protocol, UINT32_MAX, OPEN, "PROTOCOL_VERSION of the sender")                           \
    F(STR, name, 31, OPEN, "actor name, as in the routing id")                                     \
    F(U64, incarnation, UINT64_MAX, OPEN, "which run of that name")                                \
    F(U32, pid, 0x7fffffff, OPEN, "process id, for the pidfd")                                     \
    F(U64, start_ticks, UINT64_MAX, OPEN, "start time, field 22 of /proc/PID/stat")                \
    F(STR, boot_id, 36, OPEN, "/proc/sys/kernel/random/boot_id")                                   \
    F(U32, threads, 65535, OPEN, "worker threads")                                                 \
    F(STR, backend, 15, OPEN, "gpud: cpu, cuda; empty otherwise")                                  \
    F(STR, device, 127, OPEN, "gpud: name of the device")                                          \
    F(U32, max_in_flight, 255, OPEN, "gpud: how many partitions it takes at once")                 \
    F(U8, evaluates, 1, OPEN, "gpud: can make a and b from w")                                     \
    F(U8, early_upload, 1, OPEN, "gpud: reports UPLOADED before it is done")                       \
    F(U64, memory_bytes, UINT64_MAX, OPEN, "gpud: device memory for keys and work; 0: the host's") \
    F(U32, numa_node, 255, OPEN, "node it is bound to or its device hangs on; 255 unknown")
#define FIELDS_welcome(F)                                                                          \
    F(U64, epoch, UINT64_MAX, OPEN, "which start of the desk this is")                             \
    F(U32, heartbeat_ms, 60000, OPEN, "how often the desk wants a HEARTBEAT")                      \
    F(U32, pid, 0x7fffffff, OPEN, "the desk's process id")                                         \
    F(U64, start_ticks, UINT64_MAX, OPEN, "its start time")
#define FIELDS_who(F) F(U64, epoch, UINT64_MAX, OPEN, "which start of the desk this is")
#define FIELDS_ready(F)                                                                            \
    F(U64, nodes, UINT64_MAX, OPEN, "bit n: the arena of node n is mapped (and registered)")       \
    F(U64, register_ns, UINT64_MAX, OPEN, "how long mapping and registering took")
#define FIELDS_bye(F) F(STR, reason, 255, OPEN, "why it goes")
#define FIELDS_heartbeat(F)                                                                        \
    F(U64, epoch, UINT64_MAX, OPEN, "the desk's incarnation as last heard; 0: none yet")           \
    F(U32, in_flight, 65535, OPEN, "leases it holds")                                              \
    F(U64, done, UINT64_MAX, OPEN, "partitions it finished since it started")                      \
    F(U64, charged_bytes, UINT64_MAX, OPEN, "keys and matrices it keeps mapped or resident")       \
    F(U8, draining, 1, OPEN, "takes nothing new")
#define FIELDS_grant(F) LEASE_FIELDS(F)
#define FIELDS_synthesized(F)                                                                      \
    LEASE_FIELDS(F)                                                                                \
    F(U32, priority, UINT32_MAX, OPEN, "0 is served first")
#define FIELDS_published(F) LEASE_FIELDS(F)
#define FIELDS_taken(F)     LEASE_FIELDS(F)
#define FIELDS_uploaded(F)  LEASE_FIELDS(F)
#define FIELDS_proved(F)    LEASE_FIELDS(F)
#define FIELDS_failed(F)                                                                           \
    LEASE_FIELDS(F)                                                                                \
    F(U32, code, 255, OPEN, "enum err_code")                                                       \
    F(STR, reason, 511, OPEN, "one line for a person")
#define FIELDS_cancel(F)                                                                           \
    LEASE_FIELDS(F)                                                                                \
    F(U32, why, 255, OPEN, "enum lease_cancel")
#define FIELDS_drain(F) F(U32, grace_ms, UINT32_MAX, OPEN, "finish what is under way within this")
#define FIELDS_circuit_added(F)                                                                    \
    F(HASH, circuit, 32, OPEN, "digest: its name in the store")                                    \
    F(STR, alias, 63, OPEN, "friendly name")
#define FIELDS_circuit_load(F)  F(HASH, circuit, 32, OPEN, "digest")
#define FIELDS_circuit_evict(F) F(HASH, circuit, 32, OPEN, "digest")
#define FIELDS_circuit_state(F)                                                                    \
    F(HASH, circuit, 32, OPEN, "digest")                                                           \
    F(U8, resident, 1, OPEN, "its key is loaded here")                                             \
    F(U64, bytes, UINT64_MAX, OPEN, "what it takes of the budget here")                            \
    F(U32, code, 255, OPEN, "enum err_code of a load that failed")                                 \
    F(STR, reason, 511, OPEN, "why it failed")
#define MESSAGES_DESK(M)                                                                           \
    M(HELLO, hello, 1, DESK, WHO_STARTED, WHO_DESK,                                                \
      "I am here; first on every lane and after WHO")                                              \
    M(WELCOME, welcome, 1, DESK, WHO_DESK, WHO_STARTED, "answer to HELLO")                         \
    M(WHO, who, 1, DESK, WHO_DESK, WHO_STARTED,                                                    \
      "the desk restarted and does not know you: say HELLO")                                       \
    M(READY, ready, 1, DESK, WHO_DAEMONS, WHO_DESK, "arenas are mapped; work may come")            \
    M(BYE, bye, 1, DESK, WHO_STARTED, WHO_DESK, "going of its own will, holding nothing")          \
    M(HEARTBEAT, heartbeat, 1, DESK, WHO_STARTED, WHO_DESK, "the work loop turns")                 \
    M(GRANT, grant, 1, DESK, WHO_DESK, ACTOR_BIT(SYNTHD), "a lease is yours to claim")             \
    M(PUBLISHED, published, 1, DESK, ACTOR_BIT(SYNTHD), WHO_DESK,                                  \
      "it is filled and handed to gpud")                                                           \
    M(TAKEN, taken, 1, DESK, ACTOR_BIT(GPUD), WHO_DESK, "proving has begun")                       \
    M(UPLOADED, uploaded, 1, DESK, ACTOR_BIT(GPUD), WHO_DESK, "the extent is no longer read")      \
    M(PROVED, proved, 1, DESK, ACTOR_BIT(GPUD), WHO_DESK, "the sums are in the result cell")       \
    M(FAILED, failed, 1, DESK, WHO_DAEMONS, WHO_DESK, "the reason is in the result cell")          \
    M(CANCEL, cancel, 1, DESK, WHO_DESK, WHO_DAEMONS, "look at the cancel word of this lease")     \
    M(DRAIN, drain, 1, DESK, WHO_DESK, WHO_STARTED, "take nothing new, finish, say BYE")           \
    M(CIRCUIT_ADDED, circuit_added, 1, DESK, WHO_DESK, WHO_DAEMONS, "the store has a new circuit") \
    M(CIRCUIT_LOAD, circuit_load, 1, DESK, WHO_DESK, WHO_DAEMONS,                                  \
      "make it resident before it is needed")                                                      \
    M(CIRCUIT_EVICT, circuit_evict, 1, DESK, WHO_DESK, WHO_DAEMONS,                                \
      "give its memory back when idle")                                                            \
    M(CIRCUIT_STATE, circuit_state, 1, DESK, WHO_DAEMONS, WHO_DESK, "what a circuit takes here now")

/* --- a gpud's lane ------------------------------------------------------------------------- */

#define MESSAGES_GPUD(M)                                                                           \
    M(SYNTHESIZED, synthesized, 1, GPUD, ACTOR_BIT(SYNTHD), ACTOR_BIT(GPUD),                       \
      "a lease is yours to take")

/* --- the client lane ----------------------------------------------------------------------- */

#define TAG_FIELD(F) F(U64, tag, UINT64_MAX, OPEN, "the asker's number for this question")

#define FIELDS_submit(F)                                                                           \
    TAG_FIELD(F)                                                                                   \
    F(STR, client, 63, OPEN, "who asks; request ids are this client's own")                        \
    F(STR, request, 63, OPEN, "request id; the same one again gives the same job; empty: none")    \
    F(STR, circuit, 64, OPEN, "alias, or the digest in hexadecimal")                               \
    F(U32, partitions, 4096, OPEN, "how many inputs: SPOOL.0 .. SPOOL.(n-1) in DIR/spool")         \
    F(STR, spool, 63, OPEN, "their common name in DIR/spool, which the client drew at random")     \
    F(U8, input, 1, OPEN, "0: .wtns, 1: input.json for the circuit's program")                     \
    F(HASH, content, 32, SECRET, "BLAKE2b-256 over all inputs: same id, same content?")            \
    F(U32, priority, 255, OPEN, "0 is served first")                                               \
    F(U64, limit_ms, UINT64_MAX, OPEN, "time the job may take from ACCEPTED on; 0: no limit")      \
    F(U8, urgent, 1, OPEN, "of the urgent class: may use reserved room")                           \
    F(U8, is_volatile, 1, OPEN, "ends as input-lost after a crash; its inputs are not kept")
#define FIELDS_accepted(F)                                                                         \
    TAG_FIELD(F)                                                                                   \
    F(U64, job, UINT64_MAX, OPEN, "job, committed to the ledger")                                  \
    F(U64, epoch, UINT64_MAX, OPEN, "which start of the desk this is")                             \
    F(U8, existed, 1, OPEN, "the request id was known: this is that job, the new inputs go")
#define FIELDS_refused(F)                                                                          \
    TAG_FIELD(F)                                                                                   \
    F(U32, code, 255, OPEN, "enum err_code")                                                       \
    F(STR, reason, 511, OPEN, "one line for a person")
#define FIELDS_await(F)                                                                            \
    TAG_FIELD(F)                                                                                   \
    F(U64, job, UINT64_MAX, OPEN, "job; 0: by request id")                                         \
    F(STR, client, 63, OPEN, "who asks")                                                           \
    F(STR, request, 63, OPEN, "request id, when job is 0")                                         \
    F(U8, progress, 1, OPEN, "send PROGRESS too")
#define FIELDS_progress(F)                                                                         \
    TAG_FIELD(F)                                                                                   \
    F(U64, job, UINT64_MAX, OPEN, "job")                                                           \
    F(U32, partitions, UINT32_MAX, OPEN, "in all")                                                 \
    F(U32, synthesized, UINT32_MAX, OPEN, "filled so far")                                         \
    F(U32, proved, UINT32_MAX, OPEN, "proved and verified so far")                                 \
    F(U32, ahead, UINT32_MAX, OPEN, "partitions of other jobs before its next one")
#define FIELDS_proof(F)                                                                            \
    TAG_FIELD(F)                                                                                   \
    F(U64, job, UINT64_MAX, OPEN, "job")                                                           \
    F(U32, partition, UINT32_MAX, OPEN, "partition; they come in order, each before its PUBLICS")  \
    F(U8, curve, 2, OPEN, "enum curve_id")                                                         \
    F(BIN, proof, 384, OPEN, "A | B | C affine, as struct point_t has them (Montgomery)")          \
    F(U32, n_public, UINT32_MAX, OPEN, "public inputs that follow")
#define FIELDS_publics(F)                                                                          \
    TAG_FIELD(F)                                                                                   \
    F(U64, job, UINT64_MAX, OPEN, "job")                                                           \
    F(U32, partition, UINT32_MAX, OPEN, "partition")                                               \
    F(U32, first, UINT32_MAX, OPEN, "index of the first value in this piece")                      \
    F(BLOB, values, 32768, OPEN, "plain 32-byte little-endian scalars")
#define FIELDS_done(F)                                                                             \
    TAG_FIELD(F)                                                                                   \
    F(U64, job, UINT64_MAX, OPEN, "job")                                                           \
    F(U32, code, 255, OPEN, "enum err_code; 0: every proof was sent before this")                  \
    F(STR, reason, 511, OPEN, "why it failed")                                                     \
    F(U32, partitions, UINT32_MAX, OPEN, "in all")
#define FIELDS_cancel_job(F)                                                                       \
    TAG_FIELD(F)                                                                                   \
    F(U64, job, UINT64_MAX, OPEN, "job; 0: by request id")                                         \
    F(STR, client, 63, OPEN, "who asks")                                                           \
    F(STR, request, 63, OPEN, "request id, when job is 0")
#define FIELDS_status(F) TAG_FIELD(F)
#define FIELDS_jobs(F)                                                                             \
    TAG_FIELD(F)                                                                                   \
    F(STR, client, 63, OPEN, "only this client's; empty: everyone's")                              \
    F(STR, state, 15, OPEN, "only in this state; empty: all")                                      \
    F(U64, after, UINT64_MAX, OPEN, "only jobs with a larger number")                              \
    F(U32, limit, 1000, OPEN, "at most so many; 0: 1000")
#define FIELDS_show(F)                                                                             \
    TAG_FIELD(F)                                                                                   \
    F(U64, job, UINT64_MAX, OPEN, "job")
#define FIELDS_circuits(F) TAG_FIELD(F)
#define FIELDS_report(F)                                                                           \
    TAG_FIELD(F)                                                                                   \
    F(U8, last, 1, OPEN, "no more pieces follow")                                                  \
    F(BLOB, json, 49152, OPEN, "a piece of one JSON document, in order")
#define FIELDS_ok(F)                                                                               \
    TAG_FIELD(F)                                                                                   \
    F(STR, text, 511, OPEN, "what was done")
#define FIELDS_preload(F)                                                                          \
    TAG_FIELD(F)                                                                                   \
    F(STR, circuit, 64, OPEN, "alias or digest")
#define FIELDS_evict(F)                                                                            \
    TAG_FIELD(F)                                                                                   \
    F(STR, circuit, 64, OPEN, "alias or digest")
#define FIELDS_circuit_add(F)                                                                      \
    TAG_FIELD(F)                                                                                   \
    F(HASH, circuit, 32, OPEN, "digest: it lies in DIR/store already")                             \
    F(STR, alias, 63, OPEN, "friendly name")                                                       \
    F(U8, urgent, 1, OPEN, "room is reserved for it")                                              \
    F(U8, keep, 1, OPEN, "a circuit that is known keeps its alias and urgency")
#define FIELDS_circuit_remove(F)                                                                   \
    TAG_FIELD(F)                                                                                   \
    F(STR, circuit, 64, OPEN, "alias or digest")
#define FIELDS_drain_ask(F)                                                                        \
    TAG_FIELD(F)                                                                                   \
    F(STR, name, 31, OPEN, "actor to drain; empty: the instance")                                  \
    F(U32, grace_ms, UINT32_MAX, OPEN, "within this")
#define FIELDS_ping(F) TAG_FIELD(F)
#define FIELDS_pong(F)                                                                             \
    TAG_FIELD(F)                                                                                   \
    F(U64, epoch, UINT64_MAX, OPEN,                                                                \
      "which start of the desk this is: AWAIT again when it changes")                              \
    F(U32, protocol, UINT32_MAX, OPEN, "PROTOCOL_VERSION of the desk")                             \
    F(U8, draining, 1, OPEN, "refuses SUBMIT")                                                     \
    F(U32, synthds, 65535, OPEN, "ready")                                                          \
    F(U32, gpuds, 65535, OPEN, "ready")

#define MESSAGES_CLIENT(M)                                                                         \
    M(SUBMIT, submit, 1, CLIENT, WHO_ASKERS, WHO_DESK, "a job; its inputs are in the spool")       \
    M(ACCEPTED, accepted, 1, CLIENT, WHO_DESK, WHO_ASKERS, "the job is in the ledger")             \
    M(REFUSED, refused, 1, CLIENT, WHO_DESK, WHO_ASKERS, "no, and why; nothing was changed")       \
    M(AWAIT, await, 1, CLIENT, WHO_ASKERS, WHO_DESK, "tell me when it ends")                       \
    M(PROGRESS, progress, 1, CLIENT, WHO_DESK, WHO_ASKERS, "how far it is")                        \
    M(PROOF, proof, 1, CLIENT, WHO_DESK, WHO_ASKERS, "one verified proof")                         \
    M(PUBLICS, publics, 1, CLIENT, WHO_DESK, WHO_ASKERS, "a piece of its public inputs")           \
    M(DONE, done, 1, CLIENT, WHO_DESK, WHO_ASKERS, "the job has ended")                            \
    M(CANCEL_JOB, cancel_job, 1, CLIENT, WHO_ASKERS, WHO_DESK,                                     \
      "stop it; answered by OK or REFUSED")                                                        \
    M(STATUS, status, 1, CLIENT, WHO_ASKERS, WHO_DESK,                                             \
      "the state of the instance; answered by REPORT")                                             \
    M(JOBS, jobs, 1, CLIENT, WHO_ASKERS, WHO_DESK, "list of jobs; answered by REPORT")             \
    M(SHOW, show, 1, CLIENT, WHO_ASKERS, WHO_DESK, "one job in full; answered by REPORT")          \
    M(CIRCUITS, circuits, 1, CLIENT, WHO_ASKERS, WHO_DESK, "list of circuits; answered by REPORT") \
    M(REPORT, report, 1, CLIENT, WHO_DESK, WHO_ASKERS, "an answer in JSON")                        \
    M(OK, ok, 1, CLIENT, WHO_DESK, WHO_ASKERS, "done")                                             \
    M(PRELOAD, preload, 1, CLIENT, WHO_ASKERS, WHO_DESK, "make a key resident; OK or REFUSED")     \
    M(EVICT, evict, 1, CLIENT, WHO_ASKERS, WHO_DESK, "give its memory back; OK or REFUSED")        \
    M(CIRCUIT_ADD, circuit_add, 1, CLIENT, WHO_ASKERS, WHO_DESK,                                   \
      "a prepared circuit was put in the store")                                                   \
    M(CIRCUIT_REMOVE, circuit_remove, 1, CLIENT, WHO_ASKERS, WHO_DESK, "forget it; OK or REFUSED") \
    M(DRAIN_ASK, drain_ask, 1, CLIENT, WHO_ASKERS, WHO_DESK,                                       \
      "drain an actor or all; OK when it is done")                                                 \
    M(PING, ping, 1, CLIENT, WHO_ASKERS, WHO_DESK, "are you there")                                \
    M(PONG, pong, 1, CLIENT, WHO_DESK, WHO_ASKERS, "yes, and who I am")

#define MESSAGES(M) MESSAGES_DESK(M) MESSAGES_GPUD(M) MESSAGES_CLIENT(M)
