#include "tracetools/utils.hpp"

#include <cxxabi.h>
#include <dlfcn.h>

namespace tracetools::detail {

char* demangle_symbol(const char* mangled) {
  int status = 0;
  return abi::__cxa_demangle(mangled, nullptr, nullptr, &status);
}

char* get_symbol_funcptr(const void* funcptr) {
  Dl_info info{};
  if (dladdr(funcptr, &info) == 0 || info.dli_sname == nullptr) {
    return nullptr;
  }
  return demangle_symbol(info.dli_sname);
}

}  // namespace tracetools::detail
