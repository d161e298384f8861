# One way to declare an extension for Python, from the *.cpp and src/*.cpp of its
# folder.
#
#   takt_extension(takt_export DEPENDS takt::columns …)
#
# It lies in build/…/python, beside the other ones. A module that Python needs on the way from a
# recording to its report is in takt_native; what only some commands use is in an extension of its
# own, which these import where they use it.

execute_process(
  COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
  OUTPUT_VARIABLE nanobind_ROOT OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
find_package(nanobind CONFIG REQUIRED)

# All extensions.
add_custom_target(takt_extensions)

function(takt_extension name)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp src/*.cpp)
  # Our warnings do not apply to the headers of Python and nanobind.
  nanobind_add_module(${name} NB_SUPPRESS_WARNINGS NOMINSIZE ${sources})
  target_link_libraries(${name} PRIVATE ${arg_DEPENDS} nlohmann_json::nlohmann_json takt_warnings)
  takt_check_includes(${name} DEPENDS ${arg_DEPENDS})
  # Extensions are compiled last: in parts, so that no processor waits.
  set_target_properties(${name} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${takt_BINARY_DIR}/python
    UNITY_BUILD_BATCH_SIZE 6)
  if(TAKT_INSTALL)
    install(TARGETS ${name} LIBRARY DESTINATION ${TAKT_PYTHON_DIR} COMPONENT python)
  endif()
  add_dependencies(takt_extensions ${name})
endfunction()
