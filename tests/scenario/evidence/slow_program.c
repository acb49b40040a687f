/* slow_program: a witness program of the native kind for the tests.
 *
 *   slow_program INPUT OUTPUT
 *
 * The input's first line is "copy MS" or "fail MS": it waits so long, then copies what follows (a
 * .wtns) to the output, or ends with 1. */
#include <stdio.h>
#include <string.h>
#include <time.h>

int main(int argc, char **argv)
{
    char word[16];
    long ms;
    FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL;
    if (in == NULL || fscanf(in, "%15s %ld", word, &ms) != 2 || fgetc(in) != '\n')
        return 2;
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    if (strcmp(word, "copy") != 0)
        return 1;
    FILE *out = fopen(argv[2], "wb");
    if (out == NULL)
        return 3;
    for (int c; (c = fgetc(in)) != EOF;)
        fputc(c, out);
    return fclose(out) != 0;
}
