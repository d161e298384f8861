# Builds the crate in SOURCE with CARGO, in BUILD. Its checksums.txt pins all crates that it draws in.
# A Cargo.lock would do the same but names a registry host; so the choice of the mirror is left to
# the machine. A registry that cannot be reached is not an error: what needs the crate is skipped, and
# the next build tries again. A crate that is not the pinned one is.
file(COPY ${SOURCE}/ DESTINATION ${BUILD})

# Any lock says what this cargo calls its registry.
file(REMOVE ${BUILD}/Cargo.lock)
execute_process(COMMAND ${CARGO} generate-lockfile --quiet WORKING_DIRECTORY ${BUILD}
                RESULT_VARIABLE failed)
if(failed)
  message(WARNING "No ${SOURCE}: cargo reaches no registry")
  return()
endif()
file(READ ${BUILD}/Cargo.lock lock)
string(REGEX MATCH "source = \"[^\"]*\"" registry "${lock}")

set(lock "version = 3\n")
file(STRINGS ${SOURCE}/checksums.txt pins)
foreach(pin IN LISTS pins)
  string(REPLACE " " ";" pin "${pin}")
  list(GET pin 0 name)
  list(GET pin 1 version)
  string(APPEND lock "\n[[package]]\nname = \"${name}\"\nversion = \"${version}\"\n${registry}\n")
endforeach()
file(WRITE ${BUILD}/Cargo.lock "${lock}")
execute_process(COMMAND ${CARGO} update --workspace --quiet WORKING_DIRECTORY ${BUILD}
                RESULT_VARIABLE failed)
if(failed)
  message(WARNING "No ${SOURCE}: cargo does not find what it draws in")
  return()
endif()

file(READ ${BUILD}/Cargo.lock lock)
foreach(pin IN LISTS pins)
  string(REPLACE " " ";" pin "${pin}")
  list(GET pin 0 name)
  list(GET pin 1 version)
  list(GET pin 2 checksum)
  string(FIND "${lock}" "\"${name}\"\nversion = \"${version}\"\n${registry}\nchecksum = \"${checksum}\"" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "The registry's ${name} ${version} is not the one of checksums.txt")
  endif()
endforeach()
string(REGEX MATCHALL "checksum = " locked "${lock}")
list(LENGTH locked locked)
list(LENGTH pins pinned)
if(NOT locked EQUAL pinned)
  message(FATAL_ERROR "The crate draws in ${locked} crates, but checksums.txt pins ${pinned}")
endif()

execute_process(COMMAND ${CARGO} build --quiet --release --locked WORKING_DIRECTORY ${BUILD}
                RESULT_VARIABLE failed)
if(failed)
  message(WARNING "No ${SOURCE}: cargo build failed")
endif()
