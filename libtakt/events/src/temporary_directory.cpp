#include "temporary_directory.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

namespace takt::events {

Result<TemporaryDirectory> TemporaryDirectory::create() {
  std::error_code code;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(code);
  if (code) {
    return error("no temporary directory: {}; set TMPDIR to one that can be written",
                 code.message());
  }
  std::string name = (parent / "takt-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    return error("{}: cannot make a temporary directory: {}; set TMPDIR to one that can be written",
                 parent.string(), std::strerror(errno));
  }
  return TemporaryDirectory(name);
}

TemporaryDirectory::~TemporaryDirectory() {
  if (!path_.empty()) {
    std::error_code ignored;  // nothing is left to be done about it
    std::filesystem::remove_all(path_, ignored);
  }
}

}  // namespace takt::events
