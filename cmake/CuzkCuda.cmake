# The CUDA backend: kernels (.cu) and host code (.c) of lib/backend/cuda. The CUDA runtime is linked
# statically, so that the same program starts on a machine without a driver.
set(CUZK_CUDA_ARCHITECTURES "80-real;86-real;89-real;90" CACHE STRING
    "GPU architectures; the last one also as PTX for newer cards")
if(NOT CMAKE_CUDA_COMPILER AND CUZK_NVCC)
    set(CMAKE_CUDA_COMPILER ${CUZK_NVCC})
endif()
set(CMAKE_CUDA_ARCHITECTURES ${CUZK_CUDA_ARCHITECTURES})
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)

# A program has 30 MB of device code for each generation of cards; compressed, a tenth of that.
if(CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.8)
    string(APPEND CMAKE_CUDA_FLAGS " --compress-mode=size")
endif()

file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/lib/backend/cuda/*.cu"
     "${CMAKE_SOURCE_DIR}/lib/backend/cuda/*.c")
add_library(cuzk_cuda STATIC ${cuda_sources})
target_include_directories(cuzk_cuda PUBLIC "${CMAKE_SOURCE_DIR}/include" "${CMAKE_SOURCE_DIR}/lib")
target_compile_options(cuzk_cuda PRIVATE
                       $<$<COMPILE_LANGUAGE:CUDA>:-O3 -lineinfo -Xptxas=-warn-spills>)
target_link_libraries(cuzk_cuda PUBLIC cuzk_r1cs cuzk_trace cuzk_key PRIVATE CUDA::cudart_static)
set_target_properties(cuzk_cuda PROPERTIES CUDA_STANDARD 17 POSITION_INDEPENDENT_CODE ON)
target_compile_definitions(cuzk_backend PRIVATE CUZK_HAVE_CUDA)
option(CUZK_CUDA_FAULTS "let tests make checks of the device fail; for tests only" OFF)
if(CUZK_CUDA_FAULTS)
    target_compile_definitions(cuzk_cuda PUBLIC CUZK_CUDA_FAULTS)
endif()
target_link_libraries(cuzk_backend PUBLIC cuzk_cuda)
# These libraries link the device code but have none of their own.
set_property(TARGET cuzk_backend cuzk_groth16 cuzk_prover PROPERTY CUDA_ARCHITECTURES OFF)
