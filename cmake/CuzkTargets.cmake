# cuzk_library(NAME DIR folder USES names… LINK libs…): a static library cuzk_NAME of all sources
# below folder, which includes from itself and from the libraries that it USES. Includes are written
# from the root of lib/ ("math/fr.h"), the root of the project ("rpc/rpc.h") or as <cuzk/…> for the
# public API.
function(cuzk_library name)
    cmake_parse_arguments(ARG "" "DIR" "USES;LINK" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/${ARG_DIR}/*.c")
    list(FILTER sources EXCLUDE REGEX "/backend/cuda/")
    add_library(cuzk_${name} STATIC ${sources})
    target_include_directories(cuzk_${name} PUBLIC "${CMAKE_SOURCE_DIR}/include"
                               "${CMAKE_SOURCE_DIR}/lib" "${CMAKE_SOURCE_DIR}")
    list(TRANSFORM ARG_USES PREPEND cuzk_)
    target_link_libraries(cuzk_${name} PRIVATE cuzk_options PUBLIC ${ARG_USES} ${ARG_LINK})
    set_target_properties(cuzk_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# cuzk_tests(DIR LABELS label… LINK libs…): every test_*.c of DIR is a cmocka program of its own,
# run from the project's root so that vectors are found by relative paths. Other .c files of DIR are
# helpers that all of them share.
function(cuzk_tests dir)
    cmake_parse_arguments(ARG "" "" "LABELS;LINK" ${ARGN})
    file(GLOB tests CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/test_*.c")
    file(GLOB helpers CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${dir}/*.c")
    list(REMOVE_ITEM helpers "" ${tests})
    foreach(source ${tests})
        get_filename_component(stem "${source}" NAME_WE)
        string(REGEX REPLACE "^test_" "" stem "${stem}")
        string(REPLACE "/" "_" prefix "${dir}")
        set(target "test_${prefix}_${stem}")
        add_executable(${target} "${source}" ${helpers})
        target_link_libraries(${target} PRIVATE cuzk_options cuzk_testing ${ARG_LINK}
                              PkgConfig::cmocka)
        set_target_properties(${target} PROPERTIES
                              RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
        add_test(NAME ${dir}/${stem} COMMAND ${target}
                 WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}")
        set_tests_properties(${dir}/${stem} PROPERTIES LABELS "${ARG_LABELS}" SKIP_RETURN_CODE 77)
    endforeach()
endfunction()
