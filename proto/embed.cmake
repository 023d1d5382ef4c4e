# Turns the file INPUT into OUTPUT.c and OUTPUT.h: const uint8_t NAME[] and const size_t NAME_len.
file(READ "${INPUT}" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR bytes "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
file(WRITE "${OUTPUT}.h" "#pragma once\n#include <stddef.h>\n#include <stdint.h>\n"
     "extern const uint8_t ${NAME}[${bytes}];\nextern const size_t ${NAME}_len;\n")
file(WRITE "${OUTPUT}.c" "#include \"${OUTPUT}.h\"\n"
     "const uint8_t ${NAME}[${bytes}] = {\n${hex}};\nconst size_t ${NAME}_len = ${bytes};\n")
