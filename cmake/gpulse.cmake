# What every target of ours shares: warnings, sanitizers, and one library per folder with its tests beside the code.

add_library(gpulse_options INTERFACE)
target_compile_options(gpulse_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wnull-dereference -ffunction-sections -fdata-sections -fno-plt)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside its own library at -O2.
  target_compile_options(gpulse_options INTERFACE -Wno-null-dereference -Wno-restrict)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # The stable sorts of g++ 12's library use a function that clang calls deprecated. g++ still reports such uses of ours.
  target_compile_options(gpulse_options INTERFACE -Wno-deprecated-declarations)
endif()
if(GPULSE_WERROR)
  target_compile_options(gpulse_options INTERFACE -Werror)
endif()
if(GPULSE_SANITIZE)
  target_compile_options(gpulse_options INTERFACE
    -fsanitize=${GPULSE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(gpulse_options INTERFACE -fsanitize=${GPULSE_SANITIZE})
endif()
if(GPULSE_FUZZ)
  target_compile_options(gpulse_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(gpulse_options INTERFACE ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
configure_file(cmake/test_paths.hpp.in generated/test_paths.hpp @ONLY)

# What is tested is optimised; its tests run once, and are sooner compiled without.
add_library(gpulse_test_options INTERFACE)
target_link_libraries(gpulse_test_options INTERFACE gpulse_options GTest::gtest GTest::gmock GTest::gtest_main)
target_compile_options(gpulse_test_options INTERFACE -O0)

# gpulse_precompile(target <a> "b.hpp"…): these headers are compiled once, for this target and those that share them.
function(gpulse_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    # Else one that comes from a cache is refused where the headers were checked out later.
    target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

function(gpulse_share_precompiled target owner)
  if(TARGET ${owner})
    target_precompile_headers(${target} REUSE_FROM ${owner})
  endif()
endfunction()

# What most files include. Not in the release build, where each file has to include all that it uses.
set(common_headers)
if(GPULSE_PCH)
  set(common_headers
    <algorithm> <array> <charconv> <chrono> <cmath> <functional> <map> <memory> <mutex> <optional> <span> <string>
    <thread> <vector> <fmt/format.h> <source/api/source.hpp>)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers.cpp CONTENT "")
  add_library(gpulse_headers OBJECT ${CMAKE_BINARY_DIR}/headers.cpp)
  target_link_libraries(gpulse_headers PRIVATE gpulse_options)
  gpulse_precompile(gpulse_headers ${common_headers})
  add_dependencies(gpulse_headers metric_keys)
endif()

# Programs are compiled with other flags than libraries, and so are their headers.
if(GPULSE_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/test_headers.cpp CONTENT "int main() { return 0; }\n")
  add_executable(gpulse_test_headers ${CMAKE_BINARY_DIR}/test_headers.cpp)
  target_link_libraries(gpulse_test_headers PRIVATE gpulse_test_options)
  gpulse_precompile(gpulse_test_headers ${common_headers} <gmock/gmock.h> <gtest/gtest.h>)
  add_dependencies(gpulse_test_headers metric_keys)
endif()

# gpulse_library(base SOURCES a.cpp b.cpp LINKS metric fmt::fmt): target gpulse_base, alias gpulse::base.
# Every x_test.cpp beside the sources becomes part of the folder's test program.
function(gpulse_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;TEST_LINKS" ${ARGN})
  add_library(gpulse_${name} STATIC ${ARG_SOURCES})
  add_library(gpulse::${name} ALIAS gpulse_${name})
  target_link_libraries(gpulse_${name} PUBLIC ${ARG_LINKS} PRIVATE gpulse_options)
  target_include_directories(gpulse_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_BINARY_DIR}/generated)
  gpulse_share_precompiled(gpulse_${name} gpulse_headers)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  # Where the tests run on one thread there is nothing for the thread sanitizer to find.
  set(one_thread base cli codec control insight metric model record smi term tui view source_amdgpu source_intel source_sysfs source_tegra)
  if(GPULSE_SANITIZE STREQUAL "thread" AND name IN_LIST one_thread)
    set(tests)
  endif()
  if(GPULSE_TESTS AND tests)
    gpulse_test(${name}_test SOURCES ${tests} LINKS gpulse::${name} ${ARG_TEST_LINKS})
  endif()
  file(GLOB fuzzers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_fuzz.cpp)
  if(GPULSE_FUZZ)
    foreach(file ${fuzzers})
      get_filename_component(fuzzer ${file} NAME_WE)
      add_executable(${fuzzer} ${file})
      target_link_libraries(${fuzzer} PRIVATE gpulse::${name} gpulse_options)
      target_link_options(${fuzzer} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()

# What runs once, or once a second, is compiled for size. What is precompiled has the flags of the others.
function(gpulse_compile_for_size)
  if(NOT GPULSE_PCH)
    foreach(name ${ARGN})
      target_compile_options(gpulse_${name} PRIVATE -Os)
    endforeach()
  endif()
endfunction()

# The same for single files of a folder that has others too.
function(gpulse_compile_files_for_size)
  if(NOT GPULSE_PCH)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -Os)
  endif()
endfunction()

function(gpulse_test name)
  cmake_parse_arguments(ARG "" "COST" "SOURCES;LINKS" ${ARGN})
  if(NOT ARG_COST)
    set(ARG_COST 0)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} gpulse_test_options)
  gpulse_share_precompiled(${name} gpulse_test_headers)
  add_dependencies(gpulse_tests ${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 900 COST ${ARG_COST})
endfunction()

# A program that measures; it finds the simulator in the build folder.
function(gpulse_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} gpulse_options ${CMAKE_DL_LIBS})
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)  # linked like gpulse, to start like it
  add_dependencies(${name} nvidia_ml_sim)
  add_dependencies(gpulse_benches ${name})
endfunction()
