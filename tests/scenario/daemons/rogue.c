/* rogue: a witness program of the native kind for the tests: what it does stands in its input.
 *
 *   rogue INPUT OUTPUT
 *
 * The input is one word and, for "copy", a newline and the bytes of a .wtns. Exit 0 after a thing
 * that must have been forbidden says so by its output "escaped". */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int escaped(const char *how)
{
    fprintf(stderr, "escaped: %s\n", how);
    return 0;
}

int main(int argc, char **argv)
{
    static char word[64];
    if (argc != 3)
        return 2;
    FILE *in = fopen(argv[1], "rb");
    if (in == NULL || fgets(word, sizeof word, in) == NULL)
        return 3;
    word[strcspn(word, "\n")] = 0;
    if (strcmp(word, "copy") == 0) {
        FILE *out = fopen(argv[2], "wb");
        int c;
        while ((c = fgetc(in)) != EOF)
            fputc(c, out);
        return fclose(out);
    }
    if (strcmp(word, "hang") == 0)
        for (;;)
            pause();
    if (strcmp(word, "spin") == 0)
        for (volatile unsigned long i = 0;; i++)
            ;
    if (strcmp(word, "eat") == 0) {
        for (;;) {
            char *p = malloc(16 << 20);
            if (p == NULL) {
                fprintf(stderr, "no more memory\n");
                return 1;
            }
            memset(p, 1, 16 << 20);
        }
    }
    if (strcmp(word, "flood") == 0) {
        static char block[1 << 20];
        FILE *out = fopen(argv[2], "wb");
        for (;;)
            if (fwrite(block, 1, sizeof block, out) != sizeof block)
                return 4;
    }
    if (strcmp(word, "chatter") == 0) {
        for (int i = 0; i < 100000; i++)
            fprintf(stderr, "line %d of too many \x1b[31m\n", i);
        return 1;
    }
    if (strcmp(word, "fork") == 0) {
        pid_t pid = fork();
        return pid >= 0 ? escaped("fork") : 5;
    }
    if (strcmp(word, "socket") == 0)
        return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? escaped("socket") : 5;
    if (strcmp(word, "kill") == 0)
        return kill(getppid(), 0) == 0 ? escaped("kill") : 5;
    if (strcmp(word, "descriptors") == 0) {
        for (int fd = 4; fd < 1024; fd++)
            if (fcntl(fd, F_GETFD) >= 0 && fd != fileno(in))
                return escaped("descriptor");
        return 5;
    }
    if (strcmp(word, "environment") == 0)
        return getenv("PATH") != NULL || getenv("HOME") != NULL ? escaped("environment") : 5;
    if (strcmp(word, "die") == 0)
        abort();
    return 6;
}
