#include "next_function.hpp"

#include <dlfcn.h>
#include <link.h>

#include <cstddef>
#include <string>
#include <vector>

namespace takt::tracetools {
namespace {

/// The libraries that were loaded after the one that this is compiled into. Those before it replace
/// its functions: they call it.
std::vector<std::string> loaded_after_this() {
  struct Search {
    const void* own = nullptr;
    std::vector<std::string> found;
  } search;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&next_function), &own) != 0) search.own = own.dli_fbase;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        Search& so_far = *static_cast<Search*>(data);
        if (reinterpret_cast<const void*>(info->dlpi_addr) == so_far.own) {
          so_far.found.clear();
        } else if (info->dlpi_name != nullptr && *info->dlpi_name != '\0') {
          so_far.found.emplace_back(info->dlpi_name);
        }
        return 0;
      },
      &search);
  return search.found;
}

}  // namespace

void* next_function(const char* name, const void* ours) {
  if (void* const next = dlsym(RTLD_NEXT, name); next != nullptr && next != ours) return next;
  const std::vector<std::string> libraries = loaded_after_this();
  for (const std::string& library : libraries) {
    void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) continue;
    void* const found = dlsym(handle, name);
    dlclose(handle);  // the library stays loaded: whoever loaded it holds it, too
    if (found != nullptr && found != ours) return found;
  }
  return nullptr;
}

}  // namespace takt::tracetools
