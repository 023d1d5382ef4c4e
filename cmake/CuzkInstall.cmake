# libcuzk, the library for other programs, shared and static. Only the public API of include/cuzk is
# visible in the shared one. Also what `make install` installs beside the programs.
set(libcuzk_parts base trace math r1cs gadgets circuits vanilla key backend groth16 engine prover)
set(libcuzk_objects "")
set(libcuzk_links "")
foreach(part ${libcuzk_parts})
    list(APPEND libcuzk_objects $<TARGET_OBJECTS:cuzk_${part}>)
endforeach()
if(CUZK_CUDA)
    list(APPEND libcuzk_objects $<TARGET_OBJECTS:cuzk_cuda>)
    list(APPEND libcuzk_links CUDA::cudart_static)
endif()
get_target_property(blst_type blst TYPE)
if(blst_type STREQUAL "STATIC_LIBRARY")
    list(APPEND libcuzk_objects $<TARGET_OBJECTS:blst>)
else()
    list(APPEND libcuzk_links blst)
endif()
list(APPEND libcuzk_links OpenSSL::Crypto Threads::Threads PkgConfig::yajl PkgConfig::sqlite3 m)

foreach(kind SHARED STATIC)
    string(TOLOWER "libcuzk_${kind}" target)
    add_library(${target} ${kind} ${libcuzk_objects})
    set_target_properties(${target} PROPERTIES OUTPUT_NAME cuzk VERSION ${PROJECT_VERSION}
                          SOVERSION ${PROJECT_VERSION_MAJOR} LINKER_LANGUAGE C)
    target_include_directories(${target} INTERFACE "${CMAKE_SOURCE_DIR}/include")
endforeach()
# The symbols of blst's assembly are not hidden by the compiler; the version script hides them.
target_link_libraries(libcuzk_shared PRIVATE ${libcuzk_links})
target_link_options(libcuzk_shared PRIVATE
                    "LINKER:--version-script=${CMAKE_SOURCE_DIR}/cmake/libcuzk.map")
target_link_libraries(libcuzk_static INTERFACE ${libcuzk_links})

include(GNUInstallDirs)
install(TARGETS libcuzk_shared libcuzk_static)
install(DIRECTORY include/cuzk DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES packaging/cuzk.service DESTINATION lib/systemd/system)
install(FILES README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE DESTINATION ${CMAKE_INSTALL_DOCDIR})
