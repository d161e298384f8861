#include "subjects.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "takt/allocation/rules.hpp"

namespace takt::experiment {

namespace {

using allocation::Bytes;

using Malloc = void* (*)(std::size_t);
using Free = void (*)(void*);

/// malloc and free of any library. Nobody touches the blocks.
Subject of_functions(std::string name, Malloc allocate, Free release) {
  const Calls calls{
      .allocate = [allocate](Bytes bytes) -> std::optional<std::uintptr_t> {
        void* const block = allocate(bytes);
        if (block == nullptr) return std::nullopt;
        return reinterpret_cast<std::uintptr_t>(block);
      },
      .release = [release](std::uintptr_t block,
                           Bytes /*bytes*/) { release(reinterpret_cast<void*>(block)); }};
  return {.name = std::move(name), .make = [calls] { return calls; }};
}

/// One of Takt's, with a range of its own.
Calls of_rule(const allocation::Rule& rule) {
  const std::shared_ptr<allocation::Allocator> allocator = rule.make(growth.step, granule);
  return {.allocate =
              [allocator](Bytes bytes) {
                return allocation::allocate_or_grow(*allocator, bytes, growth);
              },
          .release =
              [allocator](std::uintptr_t block, Bytes /*bytes*/) {
                if (!allocator->release(block)) std::abort();
              }};
}

Calls map_each() {
  return {.allocate = [](Bytes bytes) -> std::optional<std::uintptr_t> {
            void* const block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
            if (block == MAP_FAILED) return std::nullopt;
            return reinterpret_cast<std::uintptr_t>(block);
          },
          .release = [](std::uintptr_t block,
                        Bytes bytes) { munmap(reinterpret_cast<void*>(block), bytes); }};
}

struct Library {
  const char* name;
  std::array<const char*, 2> files;
  const char* allocate;
  const char* release;
};

constexpr std::array libraries{
    Library{"mimalloc", {"libmimalloc.so.3", "libmimalloc.so.2"}, "mi_malloc", "mi_free"},
    Library{"jemalloc", {"libjemalloc.so", "libjemalloc.so.2"}, "malloc", "free"}};

void* open(const Library& library) {
  for (const char* file : library.files) {
    if (void* const found = dlopen(file, RTLD_NOW | RTLD_LOCAL)) return found;
  }
  return nullptr;
}

}  // namespace

Subject clock_alone() {
  const Calls calls{.allocate = [](Bytes) { return std::optional<std::uintptr_t>(1); },
                    .release = [](std::uintptr_t, Bytes) {}};
  return {.name = "the clock alone", .make = [calls] { return calls; }};
}

std::vector<Subject> own() {
  std::vector<Subject> subjects;
  for (const allocation::Rule& rule : allocation::rules()) {
    subjects.push_back({.name = std::string(rule.name), .make = [&rule] { return of_rule(rule); }});
  }
  return subjects;
}

Subject mapping_each() { return {.name = "mmap for each block", .make = map_each}; }

std::vector<Subject> peers(std::vector<std::string>& missing) {
  std::vector<Subject> found{of_functions("malloc of the C library", std::malloc, std::free)};
  for (const Library& library : libraries) {
    void* const opened = open(library);
    void* const allocate = opened == nullptr ? nullptr : dlsym(opened, library.allocate);
    void* const release = opened == nullptr ? nullptr : dlsym(opened, library.release);
    if (allocate == nullptr || release == nullptr) {
      const char* const reason = dlerror();
      missing.push_back(fmt::format("{}: {}", library.name, reason == nullptr ? "" : reason));
      continue;
    }
    found.push_back(of_functions(library.name, reinterpret_cast<Malloc>(allocate),
                                 reinterpret_cast<Free>(release)));
  }
  return found;
}

}  // namespace takt::experiment
