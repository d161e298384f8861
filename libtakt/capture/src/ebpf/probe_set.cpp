#include "probe_set.hpp"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <span>
#include <string_view>
#include <thread>

namespace takt::capture::ebpf {

namespace {

// As declared in linux/bpf.h since Linux 6.6.
constexpr std::uint32_t uprobe_multi = 48;  // BPF_TRACE_UPROBE_MULTI
struct LinkCreate {
  std::uint32_t program;
  std::uint32_t target;
  std::uint32_t attach_type;
  std::uint32_t link_flags;
  std::uint64_t path;
  std::uint64_t offsets;
  std::uint64_t reference_counters;
  std::uint64_t cookies;
  std::uint32_t count;
  std::uint32_t flags;
  std::uint32_t process;
  std::uint32_t unused;
};

bool kernel_has_uprobe_multi() {
  if (std::getenv("TAKT_SINGLE_PROBES") != nullptr) {  // for the tests of older kernels' way
    return false;
  }
  btf* types = btf__load_vmlinux_btf();
  const bool has = types != nullptr &&
                   btf__find_by_name_kind(types, "bpf_uprobe_multi_link", BTF_KIND_STRUCT) > 0;
  btf__free(types);
  return has;
}

/// Calls `work` with 0 … count - 1. Each call waits long for the kernel, which can do many at once.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  constexpr std::size_t workers = 32;
  std::atomic<std::size_t> next = 0;
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < std::min(count, workers); ++i) {
    threads.emplace_back([&] {
      for (std::size_t job = next++; job < count; job = next++) {
        work(job);
      }
    });
  }
}

}  // namespace

void ProbeSet::Deleter::operator()(bpf_link* link) const { bpf_link__destroy(link); }

ProbeSet::ProbeSet() : at_once_(kernel_has_uprobe_multi()) {}

ProbeSet::~ProbeSet() { detach(); }

void ProbeSet::prepare(bpf_program* program) const {
  if (at_once_) {
    bpf_program__set_expected_attach_type(program, static_cast<bpf_attach_type>(uprobe_multi));
  }
}

int ProbeSet::attach(const bpf_program* program, const std::filesystem::path& library,
                     const std::vector<Function>& functions) {
  if (functions.empty()) {
    return 0;
  }
  return at_once_ ? attach_at_once(program, library, functions)
                  : attach_one_by_one(program, library, functions);
}

int ProbeSet::attach_at_once(const bpf_program* program, const std::filesystem::path& library,
                             const std::vector<Function>& functions) {
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> cookies;
  for (const auto& function : functions) {
    offsets.push_back(function.offset);
    cookies.push_back(function.cookie);
  }
  LinkCreate request{};
  request.program = static_cast<std::uint32_t>(bpf_program__fd(program));
  request.attach_type = uprobe_multi;
  request.path = reinterpret_cast<std::uintptr_t>(library.c_str());
  request.offsets = reinterpret_cast<std::uintptr_t>(offsets.data());
  request.cookies = reinterpret_cast<std::uintptr_t>(cookies.data());
  request.count = static_cast<std::uint32_t>(functions.size());
  Descriptor set(static_cast<int>(syscall(SYS_bpf, BPF_LINK_CREATE, &request, sizeof request)));
  if (!set) {
    return -errno;
  }
  sets_.push_back(std::move(set));
  return 0;
}

int ProbeSet::attach_one_by_one(const bpf_program* program, const std::filesystem::path& library,
                                const std::vector<Function>& functions) {
  std::vector<int> failures(functions.size());
  links_.resize(links_.size() + functions.size());
  const std::span links = std::span(links_).last(functions.size());
  in_parallel(functions.size(), [&](std::size_t i) {
    LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = functions[i].cookie);
    links[i].reset(bpf_program__attach_uprobe_opts(program, -1, library.c_str(),
                                                   functions[i].offset, &options));
    failures[i] = links[i] ? 0 : -errno;
  });
  return std::ranges::min(failures);
}

void ProbeSet::detach() {
  sets_.clear();
  in_parallel(links_.size(), [this](std::size_t i) { links_[i].reset(); });
  links_.clear();
}

}  // namespace takt::capture::ebpf
