#include "ebpf/symbols.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "takt/base/descriptor.hpp"

namespace takt::capture::ebpf {
namespace {

TEST(Symbols, AFunctionIsWhereItsCodeIs) {
  Dl_info library{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "getpid"), &library), 0);
  const Descriptor file(open(library.dli_fname, O_RDONLY | O_CLOEXEC));
  const std::vector<std::string> names{"getpid", "no_such_function", "strtoul"};
  const auto offsets = untrusted_function_offsets(file.get(), names);
  ASSERT_TRUE(offsets);
  EXPECT_EQ(*offsets, function_offsets(file.get(), names));
  EXPECT_FALSE((*offsets)[1]);
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}}) {
    ASSERT_TRUE((*offsets)[i]);
    std::array<char, 8> code{};
    ASSERT_EQ(pread(file.get(), code.data(), code.size(), static_cast<off_t>(*(*offsets)[i])),
              static_cast<ssize_t>(code.size()));
    EXPECT_EQ(std::memcmp(code.data(), dlsym(RTLD_DEFAULT, names[i].c_str()), code.size()), 0);
  }
}

/// As many symbols as are read at most, 64 MiB.
constexpr std::uint64_t many_symbols = (std::uint64_t{64} << 20) / sizeof(Elf64_Sym);

/// A library with so many tables of so many symbols, which are all the same.
Descriptor library_of(std::uint64_t tables, std::uint64_t symbols) {
  const std::uint64_t sections = tables + 1;
  Descriptor file(memfd_create("library", MFD_CLOEXEC));
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_DYN;
  header.e_machine = EM_X86_64;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(Elf64_Ehdr);
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shoff = 4096;
  // As many sections as this have their number in the first of them.
  constexpr std::uint64_t many = SHN_LORESERVE;
  header.e_shnum = static_cast<Elf64_Half>(sections < many ? sections : 0);
  EXPECT_EQ(pwrite(file.get(), &header, sizeof header, 0), static_cast<ssize_t>(sizeof header));
  std::vector<Elf64_Shdr> table(std::min<std::uint64_t>(sections, many));
  for (Elf64_Shdr& section : std::span(table).subspan(1)) {
    section.sh_type = SHT_DYNSYM;
    section.sh_size = symbols * sizeof(Elf64_Sym);
    section.sh_entsize = sizeof(Elf64_Sym);
  }
  table.front().sh_size = sections;
  const auto bytes = std::as_bytes(std::span(table));
  EXPECT_EQ(pwrite(file.get(), bytes.data(), bytes.size(), 4096),
            static_cast<ssize_t>(bytes.size()));
  const std::uint64_t size = 4096 + sections * sizeof(Elf64_Shdr);
  EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(std::max(size, symbols * sizeof(Elf64_Sym)))),
            0);
  return file;
}

/// Bytes of memory that this process had at most while `work` ran, beyond what it had before.
std::uint64_t memory_of(const std::function<void()>& work) {
  const auto peak = [] {
    std::ifstream status("/proc/self/status");
    std::string word;
    std::uint64_t kilobytes = 0;
    while (status >> word && word != "VmHWM:") {
    }
    status >> kilobytes;
    return kilobytes << 10;
  };
  std::ofstream("/proc/self/clear_refs") << "5";  // the peak is the present from now on, proc(5)
  const std::uint64_t before = peak();
  work();
  return peak() - before;
}

TEST(Symbols, ALibraryOfAnySizeTakesNoMemoryOfTheRecorder) {
  const std::vector<std::string> names{"ros_trace_rcl_init"};
  for (const auto& library : {library_of(40, many_symbols), library_of(3'000'000, 1)}) {
    EXPECT_LT(memory_of([&] {
                const auto offsets = untrusted_function_offsets(library.get(), names);
                EXPECT_FALSE(offsets && offsets->front());
              }),
              16 << 20);
  }
}

TEST(Symbols, OneTableOfSymbolsIsRead) {
  // Compared with one table, as a sanitizer keeps memory of its own about what is read.
  const auto memory_with = [](std::uint64_t tables) {
    const auto library = library_of(tables, many_symbols);
    return memory_of([&] { EXPECT_FALSE(function_offsets(library.get(), {{"f"}}).front()); });
  };
  const std::uint64_t one = memory_with(1);
  EXPECT_LT(memory_with(40), 2 * one);
}

}  // namespace
}  // namespace takt::capture::ebpf
