# One way to declare a module of the house, its tests and its fuzzers.
#
#   takt_module(model SOURCES src/model.cpp DEPENDS takt::curves EXTERNAL nlohmann_json::nlohmann_json)
#
# makes the static library takt::model with headers under include/. A module without SOURCES is
# header-only. DEPENDS and EXTERNAL are all a module may include from: the linker enforces the order
# of docs/architecture.md.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 17)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
# Assertions state internal invariants and stay on in what users run.
string(REPLACE "-DNDEBUG" "" CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_CXX_FLAGS_RELWITHDEBINFO}")
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")

add_library(takt_warnings INTERFACE)
target_compile_options(takt_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Werror
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Woverloaded-virtual>)

if(TAKT_SANITIZE)
  add_compile_options(-fsanitize=${TAKT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TAKT_SANITIZE})
endif()

function(takt_module name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS;EXTERNAL" ${ARGN})
  if(arg_SOURCES)
    add_library(takt_${name} STATIC ${arg_SOURCES})
    target_include_directories(takt_${name} PUBLIC include PRIVATE src)
    target_link_libraries(takt_${name} PUBLIC ${arg_DEPENDS} ${arg_EXTERNAL} PRIVATE takt_warnings)
  else()
    add_library(takt_${name} INTERFACE)
    target_include_directories(takt_${name} INTERFACE include)
    target_link_libraries(takt_${name} INTERFACE ${arg_DEPENDS} ${arg_EXTERNAL})
  endif()
  add_library(takt::${name} ALIAS takt_${name})
endfunction()

# takt_test(model SOURCES a_test.cpp DEPENDS takt::model): one GoogleTest program, module_test.
function(takt_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name}_test ${arg_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${arg_DEPENDS} GTest::gmock GTest::gtest_main takt_warnings)
  target_compile_definitions(${name}_test PRIVATE TAKT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  gtest_discover_tests(${name}_test DISCOVERY_TIMEOUT 60)
endfunction()
