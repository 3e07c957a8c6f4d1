# SPDX-License-Identifier: Apache-2.0
# Compile options of all targets; each links attnscope_options PRIVATE.
option(ATTNSCOPE_WERROR "Treat warnings as errors (developers and CI)" OFF)
# Unity build: the sources of a target are compiled in batches, so that headers are parsed and templates instantiated
# once per batch. The preset `dev` disables it for faster incremental builds and to detect missing includes. Names in
# anonymous namespaces must be unique within a library; cmake/tidy.sh checks this.
option(ATTNSCOPE_UNITY "Compile the sources of a library or program in batches" ON)
set(CMAKE_UNITY_BUILD ${ATTNSCOPE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)

# -Wshadow reports names of other sources of the same batch.
set(shadow -Wshadow)
if(ATTNSCOPE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(shadow -Wshadow=local)
endif()
add_library(attnscope_options INTERFACE)
target_compile_options(attnscope_options INTERFACE
  -Wall -Wextra -Wpedantic ${shadow} -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-align -Wunused -Wdouble-promotion -Wformat=2 $<$<BOOL:${ATTNSCOPE_WERROR}>:-Werror>)
# Makes GCC collect garbage less often: saves a tenth of the compile time for some hundred MB of memory.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=1048576)
endif()

set(ATTNSCOPE_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
set(ATTNSCOPE_SANITIZED "" CACHE STRING "Folders whose libraries are compiled with sanitizers (empty: the whole build)")
set(sanitizer_options -fsanitize=${ATTNSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
if(ATTNSCOPE_SANITIZE)
  add_link_options(-fsanitize=${ATTNSCOPE_SANITIZE})
  if(NOT ATTNSCOPE_SANITIZED)
    add_compile_options(${sanitizer_options})
  endif()
endif()

# Shares ccache entries between build folders, with or without -Werror.
find_program(ATTNSCOPE_CCACHE ccache)
if(ATTNSCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_IGNOREOPTIONS=-Werror ${ATTNSCOPE_CCACHE})
endif()

find_program(ATTNSCOPE_MOLD mold)
if(ATTNSCOPE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# attnscope_optimize(target level): sets the optimization level of a Release build. Use -O2 for compute-heavy code and
# -O1 for interactive code; tests and CLI11 templates take much longer to compile than to run. In a RelWithDebInfo
# build, as used for sanitizers, -O2 becomes -O1.
function(attnscope_optimize target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>
    $<$<AND:$<CONFIG:RelWithDebInfo>,$<STREQUAL:${level},-O2>>:-O1>)
endfunction()

# attnscope_library(name [OPTIMIZED] [FOLDERS folder...] [SOURCES generated...] [ONLY sources...]): defines the library
# attnscope_<name> with the alias attnscope::<name>. Its sources are the .cpp files of the current folder and of the
# subfolders FOLDERS, or only those in ONLY, plus SOURCES. OPTIMIZED compiles with -O2 instead of -O1. Include paths are
# relative to the project root ("kernels/model/attention.h").
function(attnscope_library name)
  cmake_parse_arguments(ARG "OPTIMIZED" "" "FOLDERS;SOURCES;ONLY" ${ARGN})
  set(patterns *.cpp)
  foreach(folder ${ARG_FOLDERS})
    list(APPEND patterns ${folder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} ${patterns})
  if(ARG_ONLY)
    set(sources ${ARG_ONLY})
  endif()
  add_library(attnscope_${name} STATIC ${sources} ${ARG_SOURCES})
  add_library(attnscope::${name} ALIAS attnscope_${name})
  target_include_directories(attnscope_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(attnscope_${name} PRIVATE attnscope_options)
  attnscope_optimize(attnscope_${name} $<IF:$<BOOL:${ARG_OPTIMIZED}>,-O2,-O1>)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(folder IN_LIST ATTNSCOPE_SANITIZED)
    target_compile_options(attnscope_${name} PRIVATE ${sanitizer_options} -g1 $<IF:$<BOOL:${ARG_OPTIMIZED}>,-O1,-O0>)
  endif()
endfunction()
