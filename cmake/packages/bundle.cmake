# SPDX-License-Identifier: Apache-2.0
# The window's program with Qt beside it, as bin, lib and plugins. Given are: program, and in plugins Qt's own.
set(root $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})
set(kept
  platforms/libqoffscreen.so platforms/libqxcb.so platforms/libqwayland-*.so platforminputcontexts/*.so
  xcbglintegrations/*.so iconengines/libqsvgicon.so imageformats/libqsvg.so wayland-decoration-client/*.so
  wayland-graphics-integration-client/libqt-plugin-wayland-egl.so wayland-shell-integration/libxdg-shell.so)
list(TRANSFORM kept PREPEND ${plugins}/)
file(GLOB kept ${kept})

# What belongs to a system and stays its own: the C and C++ libraries, graphics drivers with what they speak to, fonts
# with what draws them, the session's bus.
set(system ld-linux.* c m dl rt pthread resolv util gcc_s stdc\\+\\+ GL EGL GLX OpenGL GLdispatch GLESv2 drm gbm vulkan
    X11 X11-xcb xcb wayland-.* fontconfig freetype harfbuzz expat z glib-2.0 gthread-2.0 dbus-1)
list(JOIN system "|" system)
file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${program} MODULES ${kept} RESOLVED_DEPENDENCIES_VAR libraries
     PRE_EXCLUDE_REGEXES "^(lib)?(${system})\\.so(\\..*)?$")

file(INSTALL ${program} DESTINATION ${root}/bin USE_SOURCE_PERMISSIONS)
# RPATH, unlike the newer RUNPATH, holds for what the libraries and plugins need as well.
execute_process(COMMAND strip ${root}/bin/attnscope-gui COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND patchelf --force-rpath --set-rpath $ORIGIN/../lib ${root}/bin/attnscope-gui
                COMMAND_ERROR_IS_FATAL ANY)
file(INSTALL ${libraries} DESTINATION ${root}/lib FOLLOW_SYMLINK_CHAIN)
foreach(plugin ${kept})
  cmake_path(RELATIVE_PATH plugin BASE_DIRECTORY ${plugins} OUTPUT_VARIABLE name)
  cmake_path(GET name PARENT_PATH folder)
  file(INSTALL ${plugin} DESTINATION ${root}/plugins/${folder})
endforeach()
file(WRITE ${root}/bin/qt.conf "[Paths]\nPrefix = ..\nPlugins = plugins\n")
set(bundled ${libraries} ${kept})
