#include "takt/test/counted_allocations.hpp"

#include <cstdlib>
#include <new>

namespace takt::test {
thread_local long allocations = 0;
}

// Not inlined, or the compiler sees new with free and takes them for a mismatch.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++takt::test::allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
