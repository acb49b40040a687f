/* notify: tells whoever started this process how it is doing, in systemd's sd_notify protocol.
 *
 * One datagram of NAME=VALUE lines to the socket that NOTIFY_SOCKET names; both our supervisor and
 * systemd understand it. Without that variable every call is a no-op. Never blocks: a full socket
 * drops the datagram, the next heartbeat makes up for it. Call from any thread.
 * Protocol: sd_notify(3); WATCHDOG=1 is to come at least every WATCHDOG_USEC / 2. */
#pragma once
#include <stdbool.h>

void notify_ready(void);     /* READY=1: the process serves now */
void notify_stopping(void);  /* STOPPING=1: it drains and will exit */
void notify_heartbeat(void); /* WATCHDOG=1: the work loop has come round */
void notify_worked(void);    /* X_MILLRACE_WORKED=1, once: the first partition went through */
void notify_status(const char *fmt, ...) __attribute__((format(printf, 1, 2))); /* STATUS=... */
