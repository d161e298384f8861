#include "symbols.hpp"

#include <gelf.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace takt::capture::ebpf {

namespace {

constexpr std::uint64_t symbols_limit = std::uint64_t{64} << 20;  // bytes

struct Close {
  void operator()(Elf* elf) const { elf_end(elf); }
};

/// The position in the file of an address in the library.
std::optional<std::uint64_t> file_offset(Elf* elf, std::uint64_t address) {
  std::size_t count = 0;
  elf_getphdrnum(elf, &count);
  for (std::size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) != nullptr && segment.p_type == PT_LOAD &&
        address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
      return address - segment.p_vaddr + segment.p_offset;
    }
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::optional<std::uint64_t>> function_offsets(int file,
                                                           std::span<const std::string> names) {
  std::vector<std::optional<std::uint64_t>> offsets(names.size());
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, Close> elf(elf_begin(file, ELF_C_READ, nullptr));
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM ||
        header.sh_size > symbols_limit) {
      continue;
    }
    Elf_Data* data = elf_getdata(section, nullptr);
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol) != nullptr; ++i) {
      const char* name = elf_strptr(elf.get(), header.sh_link, symbol.st_name);
      if (name == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
          symbol.st_shndx == SHN_UNDEF) {
        continue;
      }
      const auto wanted = std::ranges::find(names, std::string_view(name));
      if (wanted != names.end()) {
        offsets[static_cast<std::size_t>(wanted - names.begin())] =
            file_offset(elf.get(), symbol.st_value);
      }
    }
  }
  return offsets;
}

}  // namespace takt::capture::ebpf
