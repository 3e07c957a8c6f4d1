# SPDX-License-Identifier: Apache-2.0
# What every target of ours is compiled with: attnscope_options is linked PRIVATE by each.
add_library(attnscope_options INTERFACE)
target_compile_options(attnscope_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-align -Wunused -Wnull-dereference -Wdouble-promotion -Wformat=2 -Werror)

set(ATTNSCOPE_SANITIZE "" CACHE STRING "Sanitizers for the whole build, e.g. address,undefined or thread")
if(ATTNSCOPE_SANITIZE)
  add_compile_options(-fsanitize=${ATTNSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ATTNSCOPE_SANITIZE})
endif()

find_program(ATTNSCOPE_CCACHE ccache)
if(ATTNSCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ATTNSCOPE_CCACHE})
endif()

# Argument parsing and tests are templates that compile far longer than they run: optimised less than the libraries.
# (gcc's -Wnull-dereference needs some optimisation; the builds without sanitizers give it.)
set(ATTNSCOPE_LIGHT -O1)
if(ATTNSCOPE_SANITIZE)
  set(ATTNSCOPE_LIGHT -O0)
endif()
function(attnscope_compile_lightly target)
  target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:${ATTNSCOPE_LIGHT}>)
endfunction()

# Several sources in one compilation: a header is read, and its templates are made, once for eight files. For builds from
# nothing; who edits one file waits for eight, so the developers' presets compile each by itself, and find what a file
# forgot to include. Names in anonymous namespaces of one library or program must differ.
option(ATTNSCOPE_UNITY "Compile the sources of a library or program eight at once" OFF)
# The tests alone, where the sources are to show what they forgot to include.
option(ATTNSCOPE_UNITY_OF_TESTS "Compile the tests eight at once, whatever is done with the sources" OFF)
set(CMAKE_UNITY_BUILD ${ATTNSCOPE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

# attnscope_library(name SOURCES... ) makes attnscope_<name> with the alias attnscope::<name>; headers are included by
# their path from the project's root ("kernels/model/attention.h").
function(attnscope_library name)
  add_library(attnscope_${name} STATIC ${ARGN})
  add_library(attnscope::${name} ALIAS attnscope_${name})
  target_include_directories(attnscope_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(attnscope_${name} PRIVATE attnscope_options)
endfunction()
