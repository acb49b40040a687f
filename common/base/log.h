/* log: one line per event, for a person (key=value) or a program (JSON), on standard error.
 *
 *   log_init("finalizd");                                        reads MILLRACE_LOG
 *   log_info("gpud-joined", NULL, "device=%d name=%s", 0, name);
 *   log_warn("proof-rejected", LOG_OF(job, 3), "attempt=%u reason=%s", n, e.text);
 *
 *   2026-02-03T04:05:06.789012Z warn finalizd[71] proof-rejected job=j-17 partition=3 attempt=2 ...
 *   {"time":"2026-...","level":"warn","process":"finalizd","pid":71,"event":"proof-rejected", ...}
 *
 * The event is a fixed word with hyphens; what varies goes into the fields. A field format is
 * "key=conversions", fields are parted by one space; a space, quote, '=' or control character
 * inside a value is quoted on output, so a value can never forge a field or a second line. In JSON
 * a field made of exactly one numeric conversion becomes a number, every other a string.
 * Conversions: d i u x X c s p f g e %% with the length modifiers hh h l ll z j t and a precision
 * or width (also '*').
 *
 * MILLRACE_LOG is a comma-separated list of a level (error, warn, info, debug) and a form (text,
 * json); default "info,text". The same text is accepted by log_configure at run time, which is what
 * `millrace log` asks a daemon for (stat.h).
 *
 * Any thread may log. A line is one write() of at most 4096 bytes (longer ones are cut and end
 * with "cut=true"). A reader that does not drain the pipe holds a writer for at most 20 ms, then
 * the line is dropped and counted; the next line that gets through says how many were lost.
 * Never log a witness, a, b, c, r, s or an unblinded element. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

/* What the event is about; job may be NULL, partition -1 when there is none. */
struct log_subject {
    const char *job;
    int64_t partition;
};
#define LOG_OF(job_, partition_) (&(struct log_subject){.job = (job_), .partition = (partition_)})

/* Names the process in every line (the string is copied) and reads MILLRACE_LOG; a bad setting is
 * itself logged and leaves the default. Logging works before log_init too. */
void log_init(const char *process);

/* "debug", "json", "warn,text" ...; false and unchanged when a word is not known. */
bool log_configure(const char *setting);
bool log_is_setting(const char *setting); /* would log_configure take it? At most 15 bytes. */

enum { LOG_SETTING_MAX = 16 };
/* The present setting as such a text, "info,text"; out has LOG_SETTING_MAX bytes. Returns out. */
const char *log_setting(char *out);

bool log_enabled(enum log_level level);
uint64_t log_dropped(void); /* lines lost since the process began */

void log_event(enum log_level level, const char *event, const struct log_subject *subject,
               const char *fields, ...) __attribute__((format(printf, 4, 5)));

#define log_error(event, subject, ...) log_event(LOG_LEVEL_ERROR, event, subject, __VA_ARGS__)
#define log_warn(event, subject, ...)  log_event(LOG_LEVEL_WARN, event, subject, __VA_ARGS__)
#define log_info(event, subject, ...)  log_event(LOG_LEVEL_INFO, event, subject, __VA_ARGS__)
#define log_debug(event, subject, ...) log_event(LOG_LEVEL_DEBUG, event, subject, __VA_ARGS__)
