# Warnings, language level and sanitizers of cuzk's own targets, not of third-party sources.
add_library(cuzk_options INTERFACE)
target_compile_features(cuzk_options INTERFACE c_std_11 cxx_std_17)
target_compile_definitions(cuzk_options INTERFACE _GNU_SOURCE)
target_compile_options(cuzk_options INTERFACE
    -Wall -Wextra -Wshadow -Wconversion -Wundef -Wcast-qual -Wvla -Werror
    $<$<COMPILE_LANGUAGE:C>:-Wpedantic -Wstrict-prototypes -Wmissing-prototypes>
    -fno-strict-aliasing -fvisibility=hidden)
if(CUZK_SANITIZE)
    target_compile_options(cuzk_options INTERFACE -fsanitize=${CUZK_SANITIZE}
                           -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(cuzk_options INTERFACE -fsanitize=${CUZK_SANITIZE})
endif()
if(CUZK_FUZZ)
    target_compile_options(cuzk_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
