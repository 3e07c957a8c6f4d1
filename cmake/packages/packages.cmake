# SPDX-License-Identifier: Apache-2.0
# What is installed beside the programs.
set(assets ${PROJECT_SOURCE_DIR}/assets)

# The programs find the samples by where they lie themselves (storage/recorded_samples.h), here too.
install(DIRECTORY ${assets}/samples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/attnscope/samples
        FILES_MATCHING PATTERN "*.attnscope")
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/attnscope)
file(CREATE_LINK ${assets}/samples ${PROJECT_BINARY_DIR}/share/attnscope/samples SYMBOLIC)
