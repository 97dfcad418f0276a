# What every target of ours shares: warnings, sanitizers, and one library per folder with its tests beside the code.

add_library(gpulse_options INTERFACE)
target_compile_options(gpulse_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -Wnull-dereference -ffunction-sections -fdata-sections)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 reports these inside its own library at -O2.
  target_compile_options(gpulse_options INTERFACE -Wno-null-dereference -Wno-restrict)
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
target_include_directories(gpulse_options INTERFACE ${CMAKE_SOURCE_DIR}/src)

# gpulse_library(base SOURCES a.cpp b.cpp LINKS metric fmt::fmt): target gpulse_base, alias gpulse::base.
# Every x_test.cpp beside the sources becomes part of the folder's test program.
function(gpulse_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;TEST_LINKS" ${ARGN})
  add_library(gpulse_${name} STATIC ${ARG_SOURCES})
  add_library(gpulse::${name} ALIAS gpulse_${name})
  target_link_libraries(gpulse_${name} PUBLIC ${ARG_LINKS} PRIVATE gpulse_options)
  target_include_directories(gpulse_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*_test.cpp)
  # Where the tests run on one thread there is nothing for the thread sanitizer to find.
  set(one_thread base cli metric model record term tui view source_intel source_sysfs source_tegra)
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

function(gpulse_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;ENVIRONMENT" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} gpulse_options GTest::gtest GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    GPULSE_SOURCE_DIR="${CMAKE_SOURCE_DIR}" GPULSE_BUILD_DIR="${CMAKE_BINARY_DIR}")
  add_dependencies(gpulse_tests ${name})
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()

# A program that measures; it finds the simulator in the build folder.
function(gpulse_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} gpulse_options ${CMAKE_DL_LIBS})
  target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)  # linked like gpulse, to start like it
  target_compile_definitions(${name} PRIVATE GPULSE_BUILD_DIR="${CMAKE_BINARY_DIR}")
  add_dependencies(${name} nvidia_ml_sim)
endfunction()
