# SPDX-License-Identifier: Apache-2.0
# How every target of ours is compiled. attnscope_options is linked PRIVATE by each.
option(ATTNSCOPE_WERROR "Treat warnings as errors (developers and CI)" OFF)
# Several sources in one compilation: a header is read, and its templates are made, once for a batch. Who edits one file
# waits for its batch, so the preset `dev` compiles each by itself and finds what a file forgot to include. Names in
# anonymous namespaces of one library must differ, whatever the batch: cmake/tidy.sh looks.
option(ATTNSCOPE_UNITY "Compile the sources of a library or program in batches" ON)
set(CMAKE_UNITY_BUILD ${ATTNSCOPE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)

# In a batch a name of another source is no shadow.
set(shadow -Wshadow)
if(ATTNSCOPE_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(shadow -Wshadow=local)
endif()
add_library(attnscope_options INTERFACE)
target_compile_options(attnscope_options INTERFACE
  -Wall -Wextra -Wpedantic ${shadow} -Wconversion -Wsign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  -Wcast-align -Wunused -Wdouble-promotion -Wformat=2 $<$<BOOL:${ATTNSCOPE_WERROR}>:-Werror>)
# The compiler collects its garbage less often: a tenth of its time, for some hundred MB.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(--param=ggc-min-heapsize=1048576)
endif()

set(ATTNSCOPE_SANITIZE "" CACHE STRING "Sanitizers, e.g. address,undefined or thread")
set(ATTNSCOPE_SANITIZED "" CACHE STRING "Folders whose libraries are compiled with them (empty: the whole build)")
set(sanitizer_options -fsanitize=${ATTNSCOPE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
if(ATTNSCOPE_SANITIZE)
  add_link_options(-fsanitize=${ATTNSCOPE_SANITIZE})
  if(NOT ATTNSCOPE_SANITIZED)
    add_compile_options(${sanitizer_options})
  endif()
endif()

# What one build folder has compiled, another takes from the cache, with or without -Werror.
find_program(ATTNSCOPE_CCACHE ccache)
if(ATTNSCOPE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_IGNOREOPTIONS=-Werror ${ATTNSCOPE_CCACHE})
endif()

find_program(ATTNSCOPE_MOLD mold)
if(ATTNSCOPE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# attnscope_optimise(target level): in a Release build, -O2 for what computes and -O1 for what waits for people; tests
# and CLI11's templates compile far longer than they run. Under sanitizers everything does but what computes.
function(attnscope_optimise target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>
    $<$<AND:$<CONFIG:RelWithDebInfo>,$<STREQUAL:${level},-O2>>:-O1>)
endfunction()

# attnscope_library(name [FULLY] [FOLDERS folder...] [SOURCES generated...]) makes attnscope_<name>, with the alias
# attnscope::<name>, of the folder's .cpp files and of those in the folders below it that FOLDERS names (ONLY sources...:
# of these alone); FULLY optimised where its code computes. Headers are included by their path from the project's root
# ("kernels/model/attention.h").
function(attnscope_library name)
  cmake_parse_arguments(ARG "FULLY" "" "FOLDERS;SOURCES;ONLY" ${ARGN})
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
  attnscope_optimise(attnscope_${name} $<IF:$<BOOL:${ARG_FULLY}>,-O2,-O1>)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(folder IN_LIST ATTNSCOPE_SANITIZED)
    target_compile_options(attnscope_${name} PRIVATE ${sanitizer_options} -g1 $<IF:$<BOOL:${ARG_FULLY}>,-O1,-O0>)
  endif()
endfunction()
