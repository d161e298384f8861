#include "symbols.hpp"

#include <gelf.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "takt/base/capabilities.hpp"
#include "takt/base/isolated.hpp"

namespace takt::capture::ebpf {

namespace {

constexpr std::uint64_t symbols_limit = std::uint64_t{64} << 20;  // bytes

struct Close {
  void operator()(Elf* elf) const { elf_end(elf); }
};

/// The parts of the library that are loaded from its file. A header may say that there are billions
/// of them; those that are not in the file end the list.
std::vector<GElf_Phdr> loaded_segments(Elf* elf) {
  std::vector<GElf_Phdr> segments;
  GElf_Phdr segment;
  for (int i = 0; i < PN_XNUM && gelf_getphdr(elf, i, &segment) != nullptr; ++i) {
    if (segment.p_type == PT_LOAD) segments.push_back(segment);
  }
  return segments;
}

/// The position in the file of an address in the library.
std::optional<std::uint64_t> file_offset(std::span<const GElf_Phdr> segments,
                                         std::uint64_t address) {
  for (const GElf_Phdr& segment : segments) {
    if (address >= segment.p_vaddr && address - segment.p_vaddr < segment.p_filesz) {
      return address - segment.p_vaddr + segment.p_offset;
    }
  }
  return std::nullopt;
}

}  // namespace

FunctionOffsets function_offsets(int file, std::span<const std::string> names) {
  FunctionOffsets offsets(names.size());
  elf_version(EV_CURRENT);
  const std::unique_ptr<Elf, Close> elf(elf_begin(file, ELF_C_READ, nullptr));
  Elf_Scn* section = nullptr;
  GElf_Shdr header{};
  // A library has one such section at most (ELF, "Section types").
  do {
    section = elf_nextscn(elf.get(), section);
  } while (gelf_getshdr(section, &header) != nullptr && header.sh_type != SHT_DYNSYM);
  if (section == nullptr || header.sh_size > symbols_limit) {
    return offsets;
  }
  const std::vector<GElf_Phdr> segments = loaded_segments(elf.get());
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
          file_offset(segments, symbol.st_value);
    }
  }
  return offsets;
}

std::optional<FunctionOffsets> untrusted_function_offsets(int file,
                                                          std::span<const std::string> names) {
  const auto read = [&](const Output& output) {
    if (!keep_only_capabilities(0)) {
      std::abort();
    }
    // A function at the beginning of the file, where its header is, is none.
    for (const auto& offset : function_offsets(file, names)) {
      const std::uint64_t position = offset.value_or(0);
      output(std::as_bytes(std::span(&position, 1)));
    }
  };
  const auto positions =
      isolated(read, {.memory = std::uint64_t{512} << 20, .time = std::chrono::seconds(30)});
  if (!positions || positions->size() != names.size() * sizeof(std::uint64_t)) {
    return std::nullopt;
  }
  FunctionOffsets offsets(names.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    std::uint64_t position = 0;
    std::memcpy(&position, positions->data() + i * sizeof position, sizeof position);
    if (position != 0) {
      offsets[i] = position;
    }
  }
  return offsets;
}

}  // namespace takt::capture::ebpf
