# SPDX-License-Identifier: Apache-2.0
# CPack configuration per package: the .deb contains everything that `cmake --install` installs; an archive contains the
# command line or, with -D ATTNSCOPE_ARCHIVE=desktop, both programs and Qt.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
  set(kind command-line)
  set(CPACK_COMPONENTS_ALL Unspecified command-line)
  if(ATTNSCOPE_ARCHIVE STREQUAL "desktop")
    set(kind desktop)
    set(CPACK_COMPONENTS_ALL Unspecified desktop bundle)
  endif()
  set(CPACK_PACKAGE_FILE_NAME attnscope-${CPACK_PACKAGE_VERSION}-${kind}-linux-${CMAKE_HOST_SYSTEM_PROCESSOR})
endif()
