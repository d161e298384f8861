# What `cmake --install` installs, and where:
#
#   lib/*.a, include/takt/, lib/cmake/takt/    the C++ modules: find_package(takt), takt::analysis …
#   lib/takt/bin/, lib/takt/lib/               what runs inside ROS 2 processes (python/takt/processes/runtime.py)
#   lib/python3.X/site-packages/, bin/takt     the command line
#   share/takt/, share/ament_index/            what tools of ROS 2 ask a package for
#
# Python wheels take the component `python` alone, with other destinations.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

option(TAKT_INSTALL "Let `cmake --install` install Takt" ${PROJECT_IS_TOP_LEVEL})

set(TAKT_RUNTIME_DIR lib/takt)
set(TAKT_RUNTIMES "" CACHE PATH "Folders lib/takt of other builds, by distribution, that a wheel takes along")
set(TAKT_PYTHON_DIR "" CACHE STRING "Where Python modules go in the prefix, e.g. lib/python3/dist-packages")
if(SKBUILD)
  set(TAKT_PYTHON_DIR .)
elseif(Python_FOUND AND NOT TAKT_PYTHON_DIR)
  set(TAKT_PYTHON_DIR lib/python${Python_VERSION_MAJOR}.${Python_VERSION_MINOR}/site-packages)
endif()
set(TAKT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake)

# takt_install_module(target PACKAGE takt): exported as takt::name by that package.
function(takt_install_module target)
  cmake_parse_arguments(arg "" "PACKAGE" "" ${ARGN})
  string(REPLACE "takt_" "" name ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  if(NOT TAKT_INSTALL)
    return()
  endif()
  install(TARGETS ${target} EXPORT ${arg_PACKAGE}-targets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} INCLUDES DESTINATION include)
  install(DIRECTORY include/ DESTINATION include)
endfunction()

# takt_install_package(takt): the package's CMake configuration, from cmake/takt-config.cmake.in, its
# package.xml in the current folder, and its place in the index of ROS 2.
function(takt_install_package package)
  if(NOT TAKT_INSTALL)
    return()
  endif()
  set(config ${CMAKE_CURRENT_BINARY_DIR}/${package}-config.cmake)
  configure_package_config_file(
    ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/${package}-config.cmake.in ${config}
    INSTALL_DESTINATION ${TAKT_CMAKE_DIR}/${package})
  write_basic_package_version_file(
    ${CMAKE_CURRENT_BINARY_DIR}/${package}-config-version.cmake
    VERSION ${takt_VERSION} COMPATIBILITY SameMinorVersion)
  install(FILES ${config} ${CMAKE_CURRENT_BINARY_DIR}/${package}-config-version.cmake
          DESTINATION ${TAKT_CMAKE_DIR}/${package})
  install(EXPORT ${package}-targets NAMESPACE takt:: DESTINATION ${TAKT_CMAKE_DIR}/${package})
  file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/index/${package} "")
  install(FILES ${CMAKE_CURRENT_BINARY_DIR}/index/${package}
          DESTINATION share/ament_index/resource_index/packages)
  install(FILES package.xml DESTINATION share/${package})
endfunction()
