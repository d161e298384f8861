# One way to declare a module, its tests and its fuzzers.
#
#   takt_module(model DEPENDS takt::curves takt::time EXTERNAL nlohmann_json::nlohmann_json)
#
# makes the static library takt::model of src/*.cpp and src/*/*.cpp with headers under
# include/takt/model/. SOURCES names other patterns. A module without sources is header-only. HEADERS
# are modules whose headers are used without linking them. COLD: see takt_cold(). HEADERS_STANDARD is
# the C++ that the module's public headers need where it is not 20; PACKAGE is what find_package()
# finds it by where that is not takt.
#
# DEPENDS lists exactly the modules whose headers its files include, and those are declared before it.
# Where TAKT_DEVELOPER is on, the build fails if the files include others (cmake/CheckIncludes.cmake)
# or if the table in docs/architecture.md says otherwise.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 17)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
# The sources of a target are compiled as one, so their names are to differ even in anonymous
# namespaces. Reading the headers of the standard library once takes a third of the time. Whoever
# changes single files again and again turns it off.
option(TAKT_UNITY "Compile all sources of a target as one" ON)
set(CMAKE_UNITY_BUILD ${TAKT_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 0)
# GCC collects its garbage whenever its heap has grown; with room it need not.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=524288>)
endif()
# Assertions state internal invariants and stay on in what users run.
foreach(language C CXX)
  foreach(type RELEASE RELWITHDEBINFO)
    string(REPLACE "-DNDEBUG" "" CMAKE_${language}_FLAGS_${type} "${CMAKE_${language}_FLAGS_${type}}")
  endforeach()
endforeach()

add_library(takt_warnings INTERFACE)
target_compile_options(takt_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)
if(TAKT_DEVELOPER)
  target_compile_options(takt_warnings INTERFACE -Werror)
endif()

# The warnings for a library that is exported, which a library without a body would have to be too.
function(takt_warn target)
  target_compile_options(${target} PRIVATE $<TARGET_PROPERTY:takt_warnings,INTERFACE_COMPILE_OPTIONS>)
endfunction()

# takt_cold(target): what it does is not repeated for every event or every step of an analysis, such
# as reading and writing documents. GCC takes three quarters of the time to compile it.
function(takt_cold target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-O1>)
endfunction()

if(TAKT_SANITIZE)
  add_compile_options(-fsanitize=${TAKT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TAKT_SANITIZE})
  # These the address sanitizer finds as well, and GCC takes a fifth of its time for them.
  if(TAKT_SANITIZE MATCHES address AND TAKT_SANITIZE MATCHES undefined)
    add_compile_options(-fno-sanitize=null,object-size)
  endif()
endif()

# Everything tells fuzzers which code runs, so that one build serves unit tests and fuzzers.
if(TAKT_BUILD_FUZZERS)
  add_library(takt_coverage STATIC ${takt_SOURCE_DIR}/tests/fuzz/coverage.cpp)
  target_compile_options(takt_coverage PRIVATE -fno-sanitize=all)
  add_compile_options(-fsanitize-coverage=trace-pc,trace-cmp)
  add_link_options(-Wl,--wrap=__sanitizer_cov_trace_pc)
  link_libraries(takt_coverage)
endif()

set(TAKT_CHECK_INCLUDES ${CMAKE_CURRENT_LIST_DIR}/CheckIncludes.cmake)

# takt_check_includes(target DEPENDS takt::model …): the files of the current folder may include
# headers of these modules and of the module itself.
function(takt_check_includes target)
  cmake_parse_arguments(arg "" "" "DEPENDS" ${ARGN})
  foreach(module ${arg_DEPENDS})
    if(NOT TARGET ${module})
      message(FATAL_ERROR "${target} depends on ${module}, which is not declared before it")
    endif()
  endforeach()
  string(REPLACE "takt::" "" allowed "${arg_DEPENDS}")
  file(RELATIVE_PATH folder ${takt_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(folder MATCHES "^tests/")  # may include everything
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY TAKT_FOLDERS ${folder})
  set_property(GLOBAL PROPERTY TAKT_DEPENDS_${folder} "${allowed}")
  if(NOT TAKT_DEVELOPER)
    return()
  endif()
  file(GLOB own CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp *.hpp)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR}
       include/*.hpp include/*.h include/*.def src/*.cpp src/*.hpp src/*.c src/*.h)
  set(stamp ${CMAKE_CURRENT_BINARY_DIR}/${target}.includes)
  add_custom_command(
    OUTPUT ${stamp}
    COMMAND ${CMAKE_COMMAND} -D "FOLDER=${folder}" -D "ALLOWED=${allowed}" -D "FILES=${own};${files}"
            -D STAMP=${stamp} -P ${TAKT_CHECK_INCLUDES}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}
    DEPENDS ${own} ${files} ${TAKT_CHECK_INCLUDES}
    COMMENT "Checking what ${folder} includes"
    VERBATIM)
  add_custom_target(${target}_includes ALL DEPENDS ${stamp})
  add_dependencies(${target} ${target}_includes)
endfunction()

# takt_check_table(docs/architecture.md): the page's table of modules says what CMake says.
function(takt_check_table page)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
  file(READ ${page} text)
  get_property(folders GLOBAL PROPERTY TAKT_FOLDERS)
  set(wrong "")
  foreach(folder ${folders})
    get_property(depends GLOBAL PROPERTY TAKT_DEPENDS_${folder})
    list(SORT depends)
    list(JOIN depends ", " depends)
    if(depends STREQUAL "")
      set(depends "–")
    endif()
    if(NOT text MATCHES "\n\\| `${folder}` \\|[^|\n]*\\| ${depends} \\|\n")
      string(APPEND wrong "\n  | `${folder}` | … | ${depends} |")
    endif()
  endforeach()
  string(REGEX MATCHALL "\n\\| `libtakt/[a-z]+" rows "${text}")
  foreach(row ${rows})
    string(REGEX REPLACE ".*`" "" folder "${row}")
    if(NOT folder IN_LIST folders)
      string(APPEND wrong "\n  no row of ${folder}, which no takt_module declares")
    endif()
  endforeach()
  if(wrong)
    message(FATAL_ERROR "The table of modules in ${page} must say what CMake declares:${wrong}")
  endif()
endfunction()

# takt_use_headers(target PUBLIC takt::model …): include directories without the rest.
function(takt_use_headers target scope)
  foreach(module ${ARGN})
    target_include_directories(${target} ${scope}
      $<BUILD_INTERFACE:$<TARGET_PROPERTY:${module},INTERFACE_INCLUDE_DIRECTORIES>>)
  endforeach()
endfunction()

function(takt_module name)
  cmake_parse_arguments(arg "COLD" "HEADERS_STANDARD;PACKAGE" "SOURCES;DEPENDS;HEADERS;EXTERNAL" ${ARGN})
  if(NOT arg_PACKAGE)
    set(arg_PACKAGE takt)
  endif()
  if(NOT arg_SOURCES)
    set(arg_SOURCES src/*.cpp src/*/*.cpp)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${arg_SOURCES})
  if(sources)
    add_library(takt_${name} STATIC ${sources})
    target_include_directories(takt_${name}
      PUBLIC $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> PRIVATE src)
    if(arg_HEADERS_STANDARD)
      takt_use_headers(takt_${name} PUBLIC ${arg_DEPENDS})
      target_link_libraries(takt_${name} PRIVATE ${arg_DEPENDS} PUBLIC ${arg_EXTERNAL})
      target_compile_features(takt_${name} PUBLIC cxx_std_${arg_HEADERS_STANDARD})
    else()
      target_link_libraries(takt_${name} PUBLIC ${arg_DEPENDS} ${arg_EXTERNAL})
      target_compile_features(takt_${name} PUBLIC cxx_std_20)
    endif()
    takt_warn(takt_${name})
    takt_use_headers(takt_${name} PRIVATE ${arg_HEADERS})
    if(arg_COLD)
      takt_cold(takt_${name})
    endif()
  else()
    add_library(takt_${name} INTERFACE)
    target_include_directories(takt_${name}
      INTERFACE $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include>)
    target_link_libraries(takt_${name} INTERFACE ${arg_DEPENDS} ${arg_EXTERNAL})
    target_compile_features(takt_${name} INTERFACE cxx_std_20)
  endif()
  add_library(takt::${name} ALIAS takt_${name})
  if(NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "/tests/")
    takt_install_module(takt_${name} PACKAGE ${arg_PACKAGE})
  endif()
  takt_check_includes(takt_${name} DEPENDS ${arg_DEPENDS} ${arg_HEADERS})
endfunction()

# takt_test(model DEPENDS takt::model): one GoogleTest program, model_test, of all *.cpp of its
# folder or of SOURCES. INPUT: it is about what reads inputs from outside; THREADS: about what runs in
# several threads. `make asan` and `make tsan` run these with the sanitizer for them (input_tests,
# thread_tests). TEMPLATES: what it tests is compiled with it, and is to be optimised. COMPUTES: it
# runs longer than it is compiled, in inline functions whose copies the linker takes from it.
# MACHINE: it has what a machine has once, how its processors are shared or ROS 2's network, so
# `ctest -j` runs one such test at a time.
add_custom_target(input_tests)
add_custom_target(thread_tests)
function(takt_test name)
  cmake_parse_arguments(arg "INPUT;THREADS;TEMPLATES;COMPUTES;MACHINE" "" "SOURCES;DEPENDS" ${ARGN})
  if(NOT arg_SOURCES)
    file(GLOB arg_SOURCES CONFIGURE_DEPENDS *.cpp)
  endif()
  add_executable(${name}_test ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${arg_DEPENDS} GTest::gmock GTest::gtest_main takt_warnings)
  if(NOT arg_TEMPLATES)
    # Compiling a test takes much longer than running it. What it tests stays optimised.
    target_compile_options(${name}_test PRIVATE $<IF:$<BOOL:${arg_COMPUTES}>,-O1,-O0>)
  endif()
  set(label unit)
  if(arg_INPUT)
    add_dependencies(input_tests ${name}_test)
    string(APPEND label "+input")
  endif()
  if(arg_THREADS)
    add_dependencies(thread_tests ${name}_test)
    string(APPEND label "+threads")
  endif()
  set(properties LABELS ${label})
  if(arg_MACHINE)
    list(APPEND properties RESOURCE_LOCK machine)
  endif()
  gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()
