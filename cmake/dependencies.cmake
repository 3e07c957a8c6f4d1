# SPDX-License-Identifier: Apache-2.0
# All libraries come from Debian packages. The command line links them statically or header-only, so that its binary
# runs on a GPU server without them.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(Boost REQUIRED)
find_path(ATTNSCOPE_CMARK_INCLUDE_DIR NAMES cmark.h REQUIRED)
find_library(ATTNSCOPE_CMARK_LIBRARY NAMES libcmark.a REQUIRED)
add_library(attnscope_cmark STATIC IMPORTED)
set_target_properties(attnscope_cmark PROPERTIES IMPORTED_LOCATION ${ATTNSCOPE_CMARK_LIBRARY}
  INTERFACE_INCLUDE_DIRECTORIES ${ATTNSCOPE_CMARK_INCLUDE_DIR} INTERFACE_COMPILE_DEFINITIONS CMARK_STATIC_DEFINE)

# attnscope::fmt and attnscope::spdlog avoid the shared libraries. fmt 9 is compiled once (cmake/fmt.cpp); other
# versions are used header-only.
if(fmt_VERSION VERSION_GREATER_EQUAL 9 AND fmt_VERSION VERSION_LESS 10)
  add_library(attnscope_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/fmt.cpp)
  target_link_libraries(attnscope_fmt PRIVATE attnscope_options)
  target_include_directories(attnscope_fmt SYSTEM PUBLIC
    $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  add_library(attnscope_fmt INTERFACE)
  target_link_libraries(attnscope_fmt INTERFACE fmt::fmt-header-only)
endif()
add_library(attnscope::fmt ALIAS attnscope_fmt)
add_library(attnscope_spdlog INTERFACE)
target_compile_definitions(attnscope_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
target_include_directories(attnscope_spdlog SYSTEM INTERFACE
  $<TARGET_PROPERTY:spdlog::spdlog_header_only,INTERFACE_INCLUDE_DIRECTORIES>)
target_link_libraries(attnscope_spdlog INTERFACE attnscope_fmt Threads::Threads)
add_library(attnscope::spdlog ALIAS attnscope_spdlog)

if(ATTNSCOPE_CUDA)
  # Only headers are needed: the driver, NVRTC, CUPTI and NVML are loaded at run time.
  find_path(ATTNSCOPE_CUDA_INCLUDE_DIR NAMES cupti_range_profiler.h
            HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda /opt/cuda
            PATH_SUFFIXES include extras/CUPTI/include targets/x86_64-linux/include)
  find_path(ATTNSCOPE_CUDA_H_DIR NAMES cuda.h nvrtc.h
            HINTS ENV CUDA_PATH ENV CUDA_HOME PATHS /usr/local/cuda /opt/cuda PATH_SUFFIXES include)
  set(cupti_version 0)
  if(ATTNSCOPE_CUDA_INCLUDE_DIR AND EXISTS ${ATTNSCOPE_CUDA_INCLUDE_DIR}/cupti_version.h)
    file(STRINGS ${ATTNSCOPE_CUDA_INCLUDE_DIR}/cupti_version.h cupti_line REGEX "^#define CUPTI_API_VERSION +[0-9]+")
    string(REGEX MATCH "[0-9]+" cupti_version "${cupti_line}")
  endif()
  if(cupti_version LESS 130000 OR NOT ATTNSCOPE_CUDA_H_DIR)
    message(STATUS "CUDA 13 headers with the CUPTI Range Profiler not found: building with the simulated device only")
    set(ATTNSCOPE_CUDA OFF)
  endif()
endif()

if(ATTNSCOPE_GUI)
  find_package(Qt6 6.4 REQUIRED COMPONENTS Widgets Svg PrintSupport)
  find_package(QCustomPlotQt6 REQUIRED)
endif()

if(ATTNSCOPE_TESTS)
  find_package(GTest REQUIRED)
  if(ATTNSCOPE_GUI)
    find_package(Qt6 6.4 REQUIRED COMPONENTS Test)
  endif()
endif()
if(ATTNSCOPE_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
