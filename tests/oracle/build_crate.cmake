# Builds the oracle in BUILD from its sources in SOURCE with CARGO. A registry that cannot be reached
# is not an error: the tests that need the program are skipped, and the next build tries again. A
# crate that is not the pinned one is.
file(COPY ${SOURCE}/Cargo.toml ${SOURCE}/src DESTINATION ${BUILD})

execute_process(COMMAND ${CARGO} generate-lockfile --quiet WORKING_DIRECTORY ${BUILD}
                RESULT_VARIABLE failed)
if(failed)
  message(WARNING "No oracle: cargo reaches no registry")
  return()
endif()

file(READ ${BUILD}/Cargo.lock lock)
file(STRINGS ${SOURCE}/checksums.txt pins)
foreach(pin IN LISTS pins)
  string(REPLACE " " ";" pin "${pin}")
  list(GET pin 0 name)
  list(GET pin 1 version)
  list(GET pin 2 checksum)
  string(REPLACE "." "\\." pattern "name = \"${name}\"\nversion = \"${version}\"\n[^[]*\"${checksum}\"")
  if(NOT lock MATCHES "${pattern}")
    message(FATAL_ERROR "The registry's ${name} ${version} is not the one of checksums.txt")
  endif()
endforeach()
string(REGEX MATCHALL "checksum = " locked "${lock}")
list(LENGTH locked locked)
list(LENGTH pins pinned)
if(NOT locked EQUAL pinned)
  message(FATAL_ERROR "The oracle draws in ${locked} crates, but checksums.txt pins ${pinned}")
endif()

execute_process(COMMAND ${CARGO} build --quiet --release --locked WORKING_DIRECTORY ${BUILD}
                RESULT_VARIABLE failed)
if(failed)
  message(WARNING "No oracle: cargo build failed")
endif()
