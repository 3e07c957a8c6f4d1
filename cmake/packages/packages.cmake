# SPDX-License-Identifier: Apache-2.0
# Installed data files and packages. Components: unnamed (command line), `python` (Python package), `window` (desktop
# program), `desktop` (menu entry, icon and MIME type), `bundle` (desktop program with Qt; excluded from `cmake --install`).
set(assets ${PROJECT_SOURCE_DIR}/assets)

# The programs search for the samples relative to their own path (profiler/files/recorded_samples.h), in the build tree
# too.
install(DIRECTORY ${assets}/samples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/attnscope/samples
        FILES_MATCHING PATTERN "*.attnscope")
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/attnscope)
file(CREATE_LINK ${assets}/samples ${PROJECT_BINARY_DIR}/share/attnscope/samples SYMBOLIC)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/LICENSES DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${CMAKE_CURRENT_LIST_DIR}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})

# attnscope_list_libraries(NAME install-arguments...): installs the list of libraries in the program NAME with their
# licenses.
function(attnscope_list_libraries name)
  install(CODE "execute_process(
    COMMAND bash \"${PROJECT_SOURCE_DIR}/cmake/packages/libraries.sh\" ${name} \"${PROJECT_BINARY_DIR}\"
            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}/LICENSES\" \${bundled}
    COMMAND_ERROR_IS_FATAL ANY)" ${ARGN})
endfunction()

# attnscope_readme(KIND install-arguments...): installs README.md of an archive, with the system requirements of its
# programs.
function(attnscope_readme kind)
  install(CODE "execute_process(
    COMMAND bash \"${PROJECT_SOURCE_DIR}/cmake/packages/readme.sh\" ${kind} ${PROJECT_VERSION} \"$<TARGET_FILE:attnscope>\"
            \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\"
    COMMAND_ERROR_IS_FATAL ANY)" ${ARGN})
endfunction()

if(ATTNSCOPE_PROGRAMS)
  attnscope_list_libraries(attnscope)
  attnscope_readme(command-line COMPONENT command-line EXCLUDE_FROM_ALL)
endif()

if(ATTNSCOPE_GUI AND ATTNSCOPE_PROGRAMS)
  install(FILES ${assets}/org.attnscope.Attnscope.desktop
          DESTINATION ${CMAKE_INSTALL_DATADIR}/applications COMPONENT desktop)
  install(FILES ${assets}/org.attnscope.Attnscope.metainfo.xml
          DESTINATION ${CMAKE_INSTALL_DATADIR}/metainfo COMPONENT desktop)
  install(FILES ${assets}/org.attnscope.Attnscope.mime.xml RENAME org.attnscope.Attnscope.xml
          DESTINATION ${CMAKE_INSTALL_DATADIR}/mime/packages COMPONENT desktop)
  install(FILES ${assets}/icons/org.attnscope.Attnscope.svg
          DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps COMPONENT desktop)
  attnscope_list_libraries(attnscope-gui COMPONENT window)

  install(CODE "set(program \"$<TARGET_FILE:attnscope-gui>\")
    set(plugins \"${QT6_INSTALL_PREFIX}/${QT6_INSTALL_PLUGINS}\")" COMPONENT bundle EXCLUDE_FROM_ALL)
  install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/bundle.cmake COMPONENT bundle EXCLUDE_FROM_ALL)
  attnscope_list_libraries(attnscope-gui COMPONENT bundle EXCLUDE_FROM_ALL)
  attnscope_readme(desktop COMPONENT bundle EXCLUDE_FROM_ALL)
endif()

set(CPACK_PACKAGE_NAME attnscope)
set(CPACK_PACKAGE_VENDOR "The Attnscope authors")
set(CPACK_PACKAGE_CONTACT "The Attnscope authors <attnscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "profiler for the GPU memory traffic of attention kernels")
set(CPACK_PACKAGE_DESCRIPTION "Attnscope measures the memory traffic and run time of attention kernels and
compares both with theory: in a window, a command line, reports and a lesson.
Measuring needs an NVIDIA GPU, its driver and a CUDA 13 toolkit; recorded
measurements, models and a simulated device need none.")
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_GENERATOR DEB)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_LIST_DIR}/archives.cmake)

# The Qt packages do not depend on the Wayland plugin.
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "qt6-wayland, xdg-utils")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "openssh-client, fonts-droid-fallback, python3")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)

if(TARGET attnscope-gui)
  # Builds all three packages into BUILD/packages.
  add_custom_target(packages
    COMMAND ${CMAKE_CPACK_COMMAND} -G DEB -B packages
    COMMAND ${CMAKE_CPACK_COMMAND} -G TGZ -B packages
    COMMAND ${CMAKE_CPACK_COMMAND} -G TGZ -B packages -D ATTNSCOPE_ARCHIVE=desktop
    WORKING_DIRECTORY ${PROJECT_BINARY_DIR} USES_TERMINAL VERBATIM)
  add_dependencies(packages attnscope attnscope-gui)
endif()
