#include "takt/linux/exclusive_cores.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <utility>

#include "takt/base/try.hpp"
#include "takt/linux/affinity.hpp"

namespace takt::linux_os {

namespace {

/// The beginning of our cpusets' names, as processes see them (cpuset(7)).
constexpr std::string_view ours = "takt-core-";
/// The cpuset in which the kernel balances the load of all other cores.
constexpr std::string_view others = "takt-other-cores";

/// The first line of a small file; empty if it cannot be read.
std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The numbers in a list like "0-3,6" (cpuset(7)). Empty if it is no such list.
std::vector<int> listed(const std::string& text) {
  std::vector<int> numbers;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    int first = 0;
    int last = 0;
    // The kernel's numbers fit. NOLINTNEXTLINE(bugprone-unchecked-string-to-number-conversion)
    const int found = std::sscanf(part.c_str(), "%d-%d", &first, &last);
    if (found < 1 || first < 0 || (found == 2 && last >= processor_limit)) return {};
    if (found == 1) last = first;
    for (int number = first; number <= last; ++number) numbers.push_back(number);
  }
  return numbers;
}

Result<void> write_text(const std::string& path, const std::string& text) {
  const int file = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  const bool done =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int fault = errno;
  if (file >= 0) close(file);
  if (done) return {};
  return error("{} cannot be set to {}: {}", path, text, std::strerror(fault));
}

/// Where cgroup version 1 has its cpusets (proc(5), mountinfo: fields 4 and 5, and the last).
std::optional<std::string> mounted() {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const auto separator = line.find(" - cgroup ");
    if (separator == std::string::npos) continue;
    const std::string options = line.substr(line.rfind(' ') + 1) + ",";
    std::istringstream fields(line);
    std::string field;
    std::string root;
    std::string place;
    fields >> field >> field >> field >> root >> place;
    if (root == "/" && ("," + options).find(",cpuset,") != std::string::npos) return place;
  }
  return std::nullopt;
}

std::string cpuset_of(const ThreadIdentity& thread) {
  return first_line(fmt::format("/proc/{}/task/{}/cpuset", thread.process, thread.thread));
}

/// Makes a cpuset below `root` with these processors and with all memory.
Result<void> make(const std::string& root, const std::string& name, const std::vector<int>& cores,
                  bool exclusive) {
  const std::string place = root + "/" + name;
  if (mkdir(place.c_str(), 0755) != 0) {
    return error("{} cannot be made: {}", place, std::strerror(errno));
  }
  auto done = write_text(place + "/cpuset.cpus", fmt::format("{}", fmt::join(cores, ",")));
  if (done) done = write_text(place + "/cpuset.mems", first_line(root + "/cpuset.mems"));
  if (done && exclusive) done = write_text(place + "/cpuset.cpu_exclusive", "1");
  return done;
}

/// Moves all threads of a cpuset to the one above it. Threads may start others meanwhile.
void empty(const std::string& root, const std::string& place) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::ifstream tasks(place + "/tasks");
    bool any = false;
    for (std::string thread; std::getline(tasks, thread);) {
      any = true;
      static_cast<void>(write_text(root + "/tasks", thread));  // it may have ended
    }
    if (!any) return;
  }
}

/// Removes our cpusets; the kernel balances the load of all cores together again.
void remove_cpusets(const std::string& root) {
  std::error_code ignored;
  bool any = false;
  for (auto entry = std::filesystem::directory_iterator(root, ignored);
       !ignored && entry != std::filesystem::directory_iterator(); entry.increment(ignored)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(ours) && name != others) continue;
    any = true;
    empty(root, entry->path());
    rmdir(entry->path().c_str());
  }
  if (any) static_cast<void>(write_text(root + "/cpuset.sched_load_balance", "1"));
}

/// Makes a cpuset of each of these cores, and one of all others.
Result<void> divide(const std::string& root, const std::vector<int>& cores) {
  const std::string balance = root + "/cpuset.sched_load_balance";
  if (first_line(balance) != "1") {
    return error("somebody else has taken the cores apart: {} is not 1", balance);
  }
  // Not only those that this process may run on: other processes run on all.
  auto rest = listed(first_line(root + "/cpuset.cpus"));
  if (rest.empty()) return error("{}/cpuset.cpus names no core", root);
  std::erase_if(rest, [&](int core) { return std::ranges::count(cores, core) != 0; });
  Result<void> done;
  for (const int core : cores) {
    if (done) done = make(root, fmt::format("{}{}", ours, core), {core}, true);
  }
  if (done && !rest.empty()) done = make(root, std::string(others), rest, false);
  if (done) done = write_text(balance, "0");
  return done;
}

}  // namespace

Result<ExclusiveCores> ExclusiveCores::find() {
  const auto root = mounted();
  if (!root) {
    return error("threads cannot be kept on cores: there are no cpusets of cgroup version 1");
  }
  if (access((*root + "/tasks").c_str(), W_OK) != 0) {
    return error("threads cannot be kept on cores: {} is not to be changed by this user", *root);
  }
  return ExclusiveCores(*root);
}

Result<void> ExclusiveCores::lock() {
  if (lock_) return {};
  Descriptor root(open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root || flock(root.get(), LOCK_EX | LOCK_NB) != 0) {
    return errno == EWOULDBLOCK ? error("another takt manage keeps threads on cores")
                                : error("{} cannot be locked: {}", root_, std::strerror(errno));
  }
  lock_ = std::move(root);
  return {};
}

Result<void> ExclusiveCores::isolate(const std::vector<int>& cores) {
  TAKT_TRY(lock());
  remove_cpusets(root_);  // also what is left of a manager that was killed together with its guard
  const auto divided = cores.empty() ? Result<void>() : divide(root_, cores);
  if (cores.empty() || !divided) release();
  return divided;
}

Result<bool> ExclusiveCores::keep(const ThreadIdentity& thread, int core) const {
  const std::string present = cpuset_of(thread);
  const std::string wanted = fmt::format("/{}{}", ours, core);
  if (present == wanted) return processor_of(thread) == core;
  if (present != "/" && !present.starts_with(fmt::format("/{}", ours))) {
    return error(
        "thread {} of process {} is in a cpuset of its own, {}, and cannot be kept on "
        "core {}",
        thread.thread, thread.process, present, core);
  }
  TAKT_TRY(write_text(root_ + wanted + "/tasks", std::to_string(thread.thread)));
  return processor_of(thread) == core;
}

void ExclusiveCores::release() {
  if (!lock_) return;
  remove_cpusets(root_);
  lock_ = Descriptor();
}

Result<void> leave_exclusive_core(const ThreadIdentity& thread) {
  if (!cpuset_of(thread).starts_with(fmt::format("/{}", ours))) return {};
  const auto root = mounted();
  if (!root) return error("the cpusets of thread {} are not mounted any more", thread.thread);
  return write_text(*root + "/tasks", std::to_string(thread.thread));
}

}  // namespace takt::linux_os
