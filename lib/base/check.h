/* Checks of our own reasoning. A failed CHECK is a bug in cuzk, never a consequence of input. */
#ifndef BASE_CHECK_H
#define BASE_CHECK_H

/* Prints the condition and its place and aborts. */
_Noreturn void check_failed(const char *condition, const char *file, int line);

/* Always compiled in: a wrong proof or a corrupted heap costs more than the test. */
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            check_failed(#condition, __FILE__, __LINE__);                                          \
    } while (0)

#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif
