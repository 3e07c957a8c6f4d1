# SPDX-License-Identifier: Apache-2.0
# Installs the desktop program with Qt into bin, lib and plugins. Inputs: `program`, and `plugins`, the plugin folder of
# Qt.
set(root $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
set(plugin_files
  platforms/libqoffscreen.so platforms/libqxcb.so platforms/libqwayland-*.so platforminputcontexts/*.so
  xcbglintegrations/*.so iconengines/libqsvgicon.so imageformats/libqsvg.so wayland-decoration-client/*.so
  wayland-graphics-integration-client/libqt-plugin-wayland-egl.so wayland-shell-integration/libxdg-shell.so)
list(TRANSFORM plugin_files PREPEND ${plugins}/)
file(GLOB plugin_files ${plugin_files})

# System libraries that are not bundled: C and C++ libraries, graphics drivers and their interfaces, font rendering,
# D-Bus.
set(system ld-linux.* c m dl rt pthread resolv util gcc_s stdc\\+\\+ GL EGL GLX OpenGL GLdispatch GLESv2 drm gbm vulkan
    X11 X11-xcb xcb wayland-.* fontconfig freetype harfbuzz expat z glib-2.0 gthread-2.0 dbus-1)
list(JOIN system "|" system)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${program} MODULES ${plugin_files} RESOLVED_DEPENDENCIES_VAR libraries
     PRE_EXCLUDE_REGEXES "^(lib)?(${system})\\.so(\\..*)?$")

file(INSTALL ${program} DESTINATION ${root}/bin USE_SOURCE_PERMISSIONS)
# RPATH, unlike RUNPATH, also applies to the dependencies of the libraries and plugins.
execute_process(COMMAND strip ${root}/bin/attnscope-gui COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND patchelf --force-rpath --set-rpath $ORIGIN/../lib ${root}/bin/attnscope-gui
                COMMAND_ERROR_IS_FATAL ANY)
file(INSTALL ${libraries} DESTINATION ${root}/lib FOLLOW_SYMLINK_CHAIN)
foreach(plugin ${plugin_files})
  cmake_path(RELATIVE_PATH plugin BASE_DIRECTORY ${plugins} OUTPUT_VARIABLE name)
  cmake_path(GET name PARENT_PATH folder)
  file(INSTALL ${plugin} DESTINATION ${root}/plugins/${folder})
endforeach()
file(WRITE ${root}/bin/qt.conf "[Paths]\nPrefix = ..\nPlugins = plugins\n")
set(bundled ${libraries} ${plugin_files})
