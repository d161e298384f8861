#include "recorder.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>
#include <system_error>

#include "../process.hpp"
#include "../selection.hpp"
#include "probes.hpp"
#include "recipe.hpp"

namespace takt::capture::ebpf {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr auto look_interval = 10ms;
constexpr auto flush_interval = 1s;
constexpr const char* library_name = "libtracetools.so";

/// Errors of the kernel in words, with the capability that is missing if one is.
Error refused(std::string_view what, int code) {
  if (code != -EPERM && code != -EACCES) {
    return Error{fmt::format("the kernel cannot {}: {}", what, std::strerror(-code))};
  }
  return Error{fmt::format(
      "not allowed to {}: needs the capabilities CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE and "
      "CAP_DAC_READ_SEARCH; run it as root",
      what)};
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) {
    parts.push_back(part);
  }
  return parts;
}

/// The processes that have a tracing library, with the library's path.
std::map<std::uint32_t, fs::path> traceable_processes() {
  std::map<std::uint32_t, fs::path> processes;
  std::error_code gone;
  for (auto process = fs::directory_iterator("/proc", gone); process != fs::directory_iterator();
       process.increment(gone)) {
    const std::string number = process->path().filename();
    std::uint32_t pid = 0;
    std::from_chars(number.data(), number.data() + number.size(), pid);
    std::ifstream maps(process->path() / "maps");
    for (std::string line; pid != 0 && std::getline(maps, line);) {
      if (line.ends_with(library_name)) {
        // Through the process's root, which may be a container's.
        processes[pid] = process->path().string() + "/root" + line.substr(line.find('/'));
      }
    }
  }
  return processes;
}

void add_if_there(std::set<fs::path>& libraries, const fs::path& file) {
  std::error_code none;
  const auto path = fs::canonical(file, none);
  if (!none) {
    libraries.insert(path);
  }
}

/// The tracing libraries of the processes that run, and those that a command would load.
std::set<fs::path> tracing_libraries() {
  std::set<fs::path> libraries;
  for (const auto& [process, library] : traceable_processes()) {
    add_if_there(libraries, library);
  }
  for (const char* variable : {"LD_LIBRARY_PATH", "AMENT_PREFIX_PATH"}) {
    const char* value = std::getenv(variable);
    for (const auto& directory : split(value != nullptr ? value : "")) {
      add_if_there(libraries, fs::path(directory) / library_name);
      add_if_there(libraries, fs::path(directory) / "lib" / library_name);
    }
  }
  return libraries;
}

/// Version of the tracetools that a process was started with.
std::string version_of(pid_t process) {
  for (const auto& prefix : split(environment_of(process, "AMENT_PREFIX_PATH"))) {
    std::ifstream package(fs::path(prefix) / "share/tracetools/package.xml");
    for (std::string line; std::getline(package, line);) {
      const auto begin = line.find("<version>");
      if (begin != std::string::npos) {
        return line.substr(begin + 9, line.find('<', begin + 9) - begin - 9);
      }
    }
  }
  return {};
}

}  // namespace

void Recorder::Deleter::operator()(bpf_object* object) const { bpf_object__close(object); }
void Recorder::Deleter::operator()(bpf_link* link) const { bpf_link__destroy(link); }
void Recorder::Deleter::operator()(ring_buffer* buffer) const { ring_buffer__free(buffer); }

Result<std::unique_ptr<Recorder>> Recorder::start(const fs::path& directory, const Options& options,
                                                  bool calls) {
  const auto events = select(options.events);
  if (!events) {
    return tl::unexpected(events.error());
  }
  std::unique_ptr<Recorder> recorder(new Recorder(directory));
  auto ready =
      recorder->load(options).and_then([&] { return recorder->follow_processes(options); });
  if (calls) {
    ready = ready.and_then([&] { return recorder->attach_to_functions(*events); });
  }
  if (!ready) {
    return tl::unexpected(ready.error());
  }
  recorder->reader_ = std::thread([recorder = recorder.get()] { recorder->run(); });
  return recorder;
}

Recorder::~Recorder() { end(); }

Result<void> Recorder::load(const Options& options) {
  libbpf_set_print(nullptr);
  LIBBPF_OPTS(bpf_object_open_opts, open_options, .object_name = "takt");
  const auto program = probes();
  object_.reset(bpf_object__open_mem(program.data(), program.size(), &open_options));
  if (!object_) {
    return tl::unexpected(refused("open the probes", -errno));
  }
  for (const char* name : {"on_switch", "on_wakeup", "on_exit"}) {
    bpf_program__set_autoload(bpf_object__find_program_by_name(object_.get(), name),
                              options.kernel);
  }
  bpf_program__set_autoload(bpf_object__find_program_by_name(object_.get(), "on_fork"),
                            options.kernel || options.only_started);
  // The probes' only constant: whether to look at what this process started alone.
  bpf_map* constants = bpf_object__find_map_by_name(object_.get(), ".rodata");
  bpf_map__set_initial_value(constants, &options.only_started, sizeof options.only_started);
  if (const int code = bpf_object__load(object_.get()); code < 0) {
    return tl::unexpected(refused("load probes", code));
  }
  const int recipes = bpf_object__find_map_fd_by_name(object_.get(), "recipes");
  for (std::uint32_t event = 0; event < tracepoints::all.size(); ++event) {
    const auto recipe = recipe_of(static_cast<tracepoints::Event>(event));
    bpf_map_update_elem(recipes, &event, &recipe, BPF_ANY);
  }
  const int records = bpf_object__find_map_fd_by_name(object_.get(), "records");
  buffer_.reset(ring_buffer__new(
      records,
      [](void* recorder, void* data, std::size_t length) {
        static_cast<Recorder*>(recorder)->take({static_cast<const std::byte*>(data), length});
        return 0;
      },
      this, nullptr));
  if (!buffer_) {
    return tl::unexpected(refused("map the probes' records", -errno));
  }
  return {};
}

Result<void> Recorder::follow_processes(const Options& options) {
  const int processes = bpf_object__find_map_fd_by_name(object_.get(), "processes");
  const auto add = [processes](std::uint32_t process, takt_process_role role) {
    const auto value = static_cast<unsigned char>(role);
    bpf_map_update_elem(processes, &process, &value, BPF_ANY);
  };
  Result<void> attached;
  if (options.kernel || options.only_started) {
    attached = attach("on_fork");
  }
  if (options.only_started) {
    add(static_cast<std::uint32_t>(getpid()), TAKT_STARTER);
  } else if (options.kernel) {
    for (const auto& [process, library] : traceable_processes()) {
      add(process, TAKT_TRACED);
    }
  }
  if (options.kernel) {
    for (const char* program : {"on_switch", "on_wakeup", "on_exit"}) {
      attached = attached.and_then([&] { return attach(program); });
    }
    attached = attached.and_then([&] { return KernelTrace::create(directory_ / "kernel"); })
                   .map([this](std::unique_ptr<KernelTrace> trace) { kernel_ = std::move(trace); });
  }
  return attached;
}

Result<void> Recorder::attach(const char* program) {
  bpf_link* link = bpf_program__attach(bpf_object__find_program_by_name(object_.get(), program));
  if (link == nullptr) {
    return tl::unexpected(refused("watch the scheduler", -errno));
  }
  links_.emplace_back(link);
  return {};
}

Result<void> Recorder::attach_to_functions(std::uint64_t events) {
  const auto libraries = tracing_libraries();
  if (libraries.empty()) {
    return error("no {} is known or in use: is ROS 2 set up, or does a ROS 2 program run?",
                 library_name);
  }
  for (const auto& library : libraries) {
    if (auto attached = attach_to_functions_of(library, events); !attached) {
      return attached;
    }
  }
  return {};
}

Result<void> Recorder::attach_to_functions_of(const fs::path& library, std::uint64_t events) {
  bpf_program* program = bpf_object__find_program_by_name(object_.get(), "on_call");
  // The functions that follow service calls came soon after the shorter identifiers.
  std::uint64_t gid_size = 24;
  for (const auto newest_first : {true, false}) {
    for (std::size_t number = 0; number < tracepoints::all.size(); ++number) {
      const auto event = static_cast<tracepoints::Event>(number);
      const bool newest = event == tracepoints::Event::rmw_take_request;
      if (newest != newest_first || (!newest && (events >> number & 1) == 0)) {
        continue;
      }
      const std::string function = function_of(event);
      LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = number | gid_size << 8,
                  .func_name = function.c_str());
      std::unique_ptr<bpf_link, Deleter> link(
          bpf_program__attach_uprobe_opts(program, -1, library.c_str(), 0, &options));
      if (!link && errno == ENOENT) {  // not in this version
        continue;
      }
      if (!link) {
        return tl::unexpected(refused(fmt::format("watch {}", library.string()), -errno));
      }
      if (newest) {
        gid_size = 16;
        link.reset();
        if ((events >> number & 1) == 0) {
          continue;
        }
        options.bpf_cookie = number | gid_size << 8;
        link.reset(bpf_program__attach_uprobe_opts(program, -1, library.c_str(), 0, &options));
      }
      events_ |= std::uint64_t{1} << number;
      links_.push_back(std::move(link));
    }
  }
  return {};
}

Result<Losses> Recorder::losses() {
  std::size_t size = 0;
  bpf_map* counters = bpf_object__find_map_by_name(object_.get(), ".bss");
  const auto* dropped =
      static_cast<const volatile unsigned long long*>(bpf_map__initial_value(counters, &size));
  Losses losses;
  losses.discarded_events = *dropped;
  return losses;
}

Result<Losses> Recorder::stop() {
  end();
  return written_.and_then([this] { return losses(); });
}

void Recorder::run() {
  auto next_flush = std::chrono::steady_clock::now() + flush_interval;
  const auto flush = [this] {
    if (const auto lost = losses()->discarded_events; lost != 0 && !processes_.empty()) {
      const auto& [process, first] = *processes_.begin();
      first.trace->set_discarded(process, std::array<char, 16>{}, lost);
    }
    for (auto& [number, process] : processes_) {
      written_ = written_.and_then([&] { return process.trace->flush(); });
    }
    if (kernel_) {
      written_ = written_.and_then([&] { return kernel_->flush(); });
    }
  };
  while (!stopping_) {
    ring_buffer__consume(buffer_.get());
    if (std::chrono::steady_clock::now() >= next_flush) {
      next_flush += flush_interval;
      flush();
    }
    std::this_thread::sleep_for(look_interval);
  }
  links_.clear();
  ring_buffer__consume(buffer_.get());
  flush();
}

void Recorder::take(std::span<const std::byte> record) {
  unsigned kind = 0;
  std::memcpy(&kind, record.data(), sizeof kind);
  if (kind == TAKT_RECORD_SCHED && kernel_) {
    takt_sched event{};
    std::memcpy(&event, record.data(), sizeof event);
    kernel_->append(event);
  } else if (kind == TAKT_RECORD_CALL) {
    takt_call call{};
    std::memcpy(&call, record.data(), sizeof call);
    take_call(call, record.subspan(sizeof call));
  }
}

void Recorder::take_call(const takt_call& call, std::span<const std::byte> texts) {
  if (Process* its = process(call)) {
    its->trace->append(call.time, call.thread, call.name, call.event,
                       fields_of(call, texts, its->version));
  }
}

Recorder::Process* Recorder::process(const takt_call& call) {
  if (const auto known = processes_.find(call.process); known != processes_.end()) {
    return &known->second;
  }
  const auto pid = static_cast<pid_t>(call.process);
  const auto name = fmt::format("{}-{}", file_name_of(pid), pid);
  auto trace = ctf::ProcessTrace::create(directory_ / "ebpf" / name, "takt-ebpf", pid, events_,
                                         call.gid_size);
  if (!trace) {
    written_ = written_.and_then([&]() -> Result<void> { return tl::unexpected(trace.error()); });
    return nullptr;
  }
  return &processes_.emplace(call.process, Process{std::move(*trace), version_of(pid)})
              .first->second;
}

void Recorder::end() {
  stopping_ = true;
  if (reader_.joinable()) {
    reader_.join();
  }
}

}  // namespace takt::capture::ebpf
