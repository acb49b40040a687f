#include "notify.h"
#include <stdarg.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static void send_line(const char *line)
{
    const char *path = getenv("NOTIFY_SOCKET");
    if (!path || !path[0])
        return;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = strlen(path);
    if (n >= sizeof to.sun_path)
        return;
    memcpy(to.sun_path, path, n);
    if (path[0] == '@') /* systemd writes an abstract name so */
        to.sun_path[0] = '\0';
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return;
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n);
    (void)sendto(fd, line, strlen(line), MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&to, len);
    close(fd);
}

void notify_ready(void)
{
    send_line("READY=1\n");
}

void notify_stopping(void)
{
    send_line("STOPPING=1\n");
}

void notify_heartbeat(void)
{
    send_line("WATCHDOG=1\n");
}

void notify_worked(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&said))
        send_line("X_MILLRACE_WORKED=1\n");
}

void notify_status(const char *fmt, ...)
{
    char line[512] = "STATUS=";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line + 7, sizeof line - 8, fmt, ap);
    va_end(ap);
    for (char *p = line; *p; p++)
        if (*p == '\n')
            *p = ' ';
    strcat(line, "\n");
    send_line(line);
}
