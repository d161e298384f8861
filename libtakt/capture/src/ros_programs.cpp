#include "ros_programs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <vector>

#include "kernel_file.hpp"
#include "process.hpp"
#include "regular_file.hpp"
#include "takt/capture/environment.hpp"
#include "takt/capture/ring/layout.hpp"
#include "takt/capture/running_programs.hpp"

namespace takt::capture {

namespace fs = std::filesystem;

namespace {

// A process can make an executable as long as it likes.
constexpr std::size_t longest_program = std::size_t{256} << 20;

bool has_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Whether a file has this text. A process may have put a pipe at the place that it names.
bool file_has(const fs::path& file, std::string_view part) {
  const auto text = read_regular_file(file, longest_program);
  return text && has_part(*text, part);
}

/// Whether it is Takt's own library of that name: only this one has functions of Takt.
bool is_takts(const fs::path& library) { return file_has(library, "takt_trace_"); }

/// The local ports of a process's UDP sockets. None: it cannot be told.
std::set<unsigned> udp_ports(pid_t process) {
  std::set<std::string> sockets;
  std::error_code gone;
  const fs::path files = fmt::format("/proc/{}/fd", process);
  for (auto file = fs::directory_iterator(files, gone); !gone && file != fs::directory_iterator();
       file.increment(gone)) {
    std::error_code closed;
    const std::string target = fs::read_symlink(file->path(), closed);
    if (target.starts_with("socket:[")) sockets.insert(target.substr(8, target.size() - 9));
  }
  std::set<unsigned> ports;
  for (const char* const table : {"udp", "udp6"}) {
    std::istringstream lines(read_kernel_file(fmt::format("/proc/{}/net/{}", process, table)));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      const std::vector<std::string> fields{std::istream_iterator<std::string>(words), {}};
      const std::size_t colon = fields.size() > 9 ? fields[1].find(':') : std::string::npos;
      if (colon == std::string::npos || !sockets.contains(fields[9])) continue;
      ports.insert(static_cast<unsigned>(std::strtoul(fields[1].c_str() + colon + 1, nullptr, 16)));
    }
  }
  return ports;
}

/// Whether the sockets are those of a participant of DDS: one for the domain's discovery and one
/// for the participant's own (RTPS 2.5, section 9.6.1.1).
bool has_participant(pid_t process) {
  constexpr unsigned first_port = 7400;
  constexpr unsigned of_a_domain = 250;
  constexpr unsigned first_of_participants = 10;
  bool has_common = false;
  bool has_own = false;
  for (const unsigned port : udp_ports(process)) {
    if (port < first_port) continue;
    has_common = has_common || (port - first_port) % of_a_domain == 0;
    has_own = has_own || (port - first_port) % of_a_domain >= first_of_participants;
  }
  return has_common && has_own;
}

/// The executable of a process, as its command line names it; empty: not found.
fs::path named_executable(pid_t process) {
  const std::string words = read_kernel_file(fmt::format("/proc/{}/cmdline", process));
  const std::string name = words.substr(0, words.find('\0'));
  std::error_code unknown;
  if (has_part(name, "/")) return fs::is_regular_file(name, unknown) ? fs::path(name) : fs::path();
  const char* const folders = std::getenv("PATH");
  std::istringstream list(folders == nullptr ? "" : folders);
  for (std::string folder; !name.empty() && std::getline(list, folder, ':');) {
    if (fs::is_regular_file(fs::path(folder) / name, unknown)) return fs::path(folder) / name;
  }
  return {};
}

fs::path executable(pid_t process) {
  const fs::path link = fmt::format("/proc/{}/exe", process);
  struct stat status {};
  return stat(link.c_str(), &status) == 0 ? link : named_executable(process);
}

/// Which variable of a process's environment has this value; none: it cannot be told, or has none.
std::optional<std::string> variable_of(pid_t process, std::string_view name) {
  const std::string all = read_kernel_file(fmt::format("/proc/{}/environ", process));
  std::istringstream variables(all);
  for (std::string variable; std::getline(variables, variable, '\0');) {
    if (variable.starts_with(name) && variable.substr(name.size()).starts_with('=')) {
      return variable.substr(name.size() + 1);
    }
  }
  return std::nullopt;
}

bool is_in_a_namespace_of_its_own(pid_t process) {
  std::error_code unknown;
  const auto its = fs::read_symlink(fmt::format("/proc/{}/ns/pid", process), unknown);
  return !its.empty() && its != fs::read_symlink("/proc/self/ns/pid", unknown);
}

std::string reason(pid_t process, const RosProgram& program, bool was_started) {
  const fs::path file = executable(process);
  struct stat status {};
  const bool is_known = !file.empty() && stat(file.c_str(), &status) == 0;
  if (program.is_static) return ", because it is statically linked";
  if (is_known && getxattr(file.c_str(), "security.capability", nullptr, 0) > 0) {
    return ", because its executable has file capabilities and the loader then ignores LD_PRELOAD";
  }
  if (is_known && (status.st_mode & (S_ISUID | S_ISGID)) != 0) {
    return ", because its executable is set-user-ID and the loader then ignores LD_PRELOAD";
  }
  if (is_in_a_namespace_of_its_own(process)) return ", because it runs in a container";
  if (!was_started) return ", because it was started without it";
  if (const auto preload = variable_of(process, "LD_PRELOAD"); preload && !preload->empty()) {
    return ", because it was started with an LD_PRELOAD of its own";
  }
  return ", because it was started with an environment of its own";
}

RosProgram seen_once(pid_t process, Tracer tracer) {
  RosProgram program;
  const std::string all = read_kernel_file(fmt::format("/proc/{}/maps", process));
  std::istringstream maps(all);
  std::string tracetools;
  bool has_lttng = false;
  bool has_loader = false;
  for (std::string line; std::getline(maps, line);) {
    const auto slash = line.rfind('/');
    if (slash == std::string::npos) continue;
    const std::string_view name = std::string_view(line).substr(slash + 1);
    program.uses_ros = program.uses_ros || name.starts_with("librcl.so") ||
                       name.starts_with("librclcpp.so") || name.starts_with("librmw_");
    program.has_begun =
        program.has_begun || name.starts_with(fmt::format("memfd:{} ", ring::memory_name));
    has_lttng = has_lttng || name.starts_with("liblttng-ust");
    has_loader = has_loader || name.starts_with("ld-");
    if (name.starts_with("libtracetools.so")) {
      // As the process sees it, which may be in a container.
      tracetools = fmt::format("/proc/{}/root{}", process, line.substr(line.find('/')));
    }
  }
  if (all.empty()) {  // another user's, or one with capabilities; or a thread of the kernel
    const fs::path file = named_executable(process);
    program.uses_ros = !file.empty() && file_has(file, "librcl");
    return program;
  }
  program.uses_ros = program.uses_ros || (tracer == Tracer::ebpf && !tracetools.empty());
  program.is_static = !has_loader;
  if (program.is_static) program.uses_ros = has_participant(process);
  program.has_tracer = !tracetools.empty() && (tracer == Tracer::ebpf || is_takts(tracetools) ||
                                               (tracer == Tracer::lttng && has_lttng));
  return program;
}

}  // namespace

RosProgram look_into(pid_t process, Tracer tracer) {
  const RosProgram program = seen_once(process, tracer);
  // If the process ends meanwhile, the kernel shows only the first of its mappings.
  return program.uses_ros && !program.has_tracer ? seen_once(process, tracer) : program;
}

std::map<pid_t, bool> running_programs(Tracer tracer) {
  std::map<pid_t, bool> programs;
  for_each_other_process([&](pid_t process) {
    const RosProgram program = look_into(process, tracer);
    if (program.uses_ros) programs.emplace(process, program.has_tracer);
  });
  return programs;
}

bool knows_a_recorder(pid_t process) { return variable_of(process, gate_variable).has_value(); }

std::string why_unrecorded(pid_t process, const RosProgram& program, Tracer tracer,
                           bool was_started) {
  if (program.has_tracer && tracer == Tracer::ebpf) {
    return "no probes are in its libtracetools.so, which came into use after the recording began "
           "or "
           "cannot be watched; record it while it runs";
  }
  if (program.has_tracer) {
    return "its libtracetools.so did not know of the recorder, because it was started with an "
           "environment of its own; --backend ebpf records it";
  }
  if (tracer == Tracer::ebpf) {
    return program.is_static ? "it is statically linked; link it with ROS 2's shared libraries"
                             : "it did not load libtracetools.so; use a ROS 2 with its tracing";
  }
  return fmt::format(
      "it did not load Takt's libtracetools.so{}; {}", reason(process, program, was_started),
      program.is_static ? "link it with ROS 2's shared libraries" : "--backend ebpf records it");
}

}  // namespace takt::capture
