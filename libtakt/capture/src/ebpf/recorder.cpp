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
#include <functional>
#include <iterator>
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

/// The tracing library that a program started here and now would load; empty if there is none.
fs::path library_in_search_path() {
  for (const auto& [variable, folder] :
       {std::pair{"LD_LIBRARY_PATH", "."}, {"AMENT_PREFIX_PATH", "lib"}}) {
    const char* value = std::getenv(variable);
    for (const auto& directory : split(value != nullptr ? value : "")) {
      std::error_code none;
      const auto path = fs::canonical(fs::path(directory) / folder / library_name, none);
      if (!none) {
        return path;
      }
    }
  }
  return {};
}

/// The tracing libraries to watch. Every probe costs time to attach and to detach.
std::set<fs::path> tracing_libraries(bool only_started) {
  std::set<fs::path> libraries;
  if (const auto library = library_in_search_path(); !library.empty()) {
    libraries.insert(library);
  }
  if (!only_started || libraries.empty()) {
    for (const auto& [process, library] : traceable_processes()) {
      std::error_code gone;
      if (const auto path = fs::canonical(library, gone); !gone) {
        libraries.insert(path);
      }
    }
  }
  return libraries;
}

/// A tracing function to be watched.
struct Function {
  fs::path library;
  std::size_t event;
  std::uint64_t gid_size;
};

bpf_link* attach_to(const bpf_program* program, const Function& function) {
  const std::string name = function_of(static_cast<tracepoints::Event>(function.event));
  LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = function.event | function.gid_size << 8,
              .func_name = name.c_str());
  return bpf_program__attach_uprobe_opts(program, -1, function.library.c_str(), 0, &options);
}

/// Bytes of a gid field of a library's events. The identifiers became shorter a little before the
/// functions came that follow service calls; the library's text tells which are there.
std::uint64_t gid_size_of(const fs::path& library) {
  std::ifstream file(library, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return text.find(function_of(tracepoints::Event::rmw_take_request)) != std::string::npos ? 16
                                                                                           : 24;
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
    ready = ready.and_then(
        [&] { return recorder->attach_to_functions(*events, options.only_started); });
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

Result<void> Recorder::attach_to_functions(std::uint64_t events, bool only_started) {
  const auto libraries = tracing_libraries(only_started);
  if (libraries.empty()) {
    return error("no {} is known or in use: is ROS 2 set up, or does a ROS 2 program run?",
                 library_name);
  }
  std::vector<Function> functions;
  for (const auto& library : libraries) {
    const std::uint64_t gid_size = gid_size_of(library);
    for (std::size_t number = 0; number < tracepoints::all.size(); ++number) {
      if ((events >> number & 1) != 0) {
        functions.push_back({library, number, gid_size});
      }
    }
  }
  bpf_program* program = bpf_object__find_program_by_name(object_.get(), "on_call");
  std::vector<int> failures(functions.size());
  links_.resize(links_.size() + functions.size());
  const std::span links = std::span(links_).last(functions.size());
  in_parallel(functions.size(), [&](std::size_t i) {
    links[i].reset(attach_to(program, functions[i]));
    failures[i] = links[i] ? 0 : -errno;
  });
  for (std::size_t i = 0; i < functions.size(); ++i) {
    if (failures[i] == 0) {
      events_ |= std::uint64_t{1} << functions[i].event;
    } else if (failures[i] != -ENOENT) {  // which is: not in this version of tracetools
      return tl::unexpected(
          refused(fmt::format("watch {}", functions[i].library.string()), failures[i]));
    }
  }
  return {};
}

void Recorder::detach() {
  in_parallel(links_.size(), [this](std::size_t i) { links_[i].reset(); });
  links_.clear();
}

Result<Losses> Recorder::losses() {
  std::size_t size = 0;
  bpf_map* counters = bpf_object__find_map_by_name(object_.get(), ".bss");
  const auto* dropped =
      static_cast<const volatile unsigned long long*>(bpf_map__initial_value(counters, &size));
  Losses losses;
  losses.discarded_events = *dropped;
  // The kernel passes over a probe that is hit while it runs on the same processor.
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object_.get()) {
    bpf_prog_info info{};
    std::uint32_t length = sizeof info;
    if (bpf_program__fd(program) >= 0 &&
        bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length) == 0) {
      losses.discarded_events += info.recursion_misses;
    }
  }
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
  detach();
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
