#include "recorder.hpp"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/capability.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <span>

#include "../descriptors.hpp"
#include "../process.hpp"
#include "../process_trace.hpp"
#include "../ring/discovery.hpp"
#include "../selection.hpp"
#include "libraries.hpp"
#include "middleware.hpp"
#include "probes.hpp"
#include "recipe.hpp"
#include "recovered_events.hpp"
#include "refusal.hpp"
#include "symbols.hpp"
#include "takt/base/capabilities.hpp"
#include "takt/base/kernel_version.hpp"
#include "takt/base/try.hpp"
#include "takt/capture/ring/writer.hpp"
#include "takt/ctf/fields.hpp"
#include "takt/tracepoints/events.hpp"

namespace takt::capture::ebpf {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using tracepoints::EventType;

namespace {

constexpr auto look_interval = 10ms;
constexpr auto flush_interval = 1s;
// Such a look goes through all processes of the machine.
constexpr auto process_look_interval = 5s;
// More processes at a time than any robot has; the calls of further ones are only counted.
constexpr std::size_t process_limit = 10'000;
// How long the memory of one process, and of all, is searched for objects. It takes a fraction of a
// second of processor time for most, which may be far more on a machine that is busy.
constexpr auto recovery_patience = 30s;
constexpr auto recoveries_patience = 2min;
constexpr const char* tracetools = "libtracetools.so";
constexpr const char* page_fault = "page_fault_user";  // some processors' kernels have none
constexpr std::array buffers{"call_records", "sched_records"};

constexpr std::uint64_t bit(EventType event) {
  return std::uint64_t{1} << static_cast<unsigned>(event);
}

// Those that no tracing function makes.
constexpr std::uint64_t other_events =
    bit(EventType::dds_write) | bit(EventType::dds_receive) | bit(EventType::rcl_call);

/// Bytes of the gids in the events of a tracing library, which exports the functions at these
/// positions. Gids became shorter a little before the functions that follow service calls were
/// added.
unsigned gid_size_of(const FunctionOffsets& functions) {
  return functions[static_cast<std::size_t>(EventType::rmw_take_request)] ? 16 : 24;
}

/// The capabilities that a thread must keep to ask what probes missed. Before Linux 5.19 the kernel
/// tells only threads that may make probes.
std::uint64_t counting_capabilities() {
  return kernel_version() >= std::pair(5, 19) ? 0 : capability(CAP_BPF);
}

}  // namespace

void Recorder::Deleter::operator()(bpf_object* object) const { bpf_object__close(object); }
void Recorder::Deleter::operator()(bpf_link* link) const { bpf_link__destroy(link); }

Result<Destination> traces_in(ctf::Storage& storage, bool kernel) {
  Destination made;
  if (kernel) made.of_kernel = TAKT_TRY(KernelTrace::create(storage));
  // The number of a process may be used again.
  made.of_process = [&storage, admitted = std::uint64_t{0}](pid_t process, std::uint64_t events,
                                                            unsigned gid_size) mutable {
    const auto name = fmt::format("{}-{}-{}", file_name_of(process), process, admitted++);
    return ProcessTrace::create(storage, fs::path("ebpf") / name, "takt-ebpf", process, events,
                                gid_size)
        .map([](auto trace) -> std::unique_ptr<ProcessSink> { return trace; });
  };
  return made;
}

Result<std::unique_ptr<Recorder>> Recorder::start(Destination destination, const Options& options,
                                                  bool calls) {
  const auto events = TAKT_TRY(select(options.events));
  std::unique_ptr<Recorder> recorder(new Recorder(std::move(destination)));
  recorder->only_started_ = options.only_started;
  recorder->events_ = options.only_started ? 0 : events & bit(EventType::objects_recovered);
  recorder->events_ |= events & bit(EventType::client_library);
  const auto before = ring::now();  // no probe is attached yet
  auto ready =
      recorder->load(options, calls).and_then([&] { return recorder->follow_processes(options); });
  // Even if calls are not recorded, they show which processes run that were not started here.
  if (calls || !options.only_started) {
    const auto watched = calls ? events : bit(EventType::rcl_init) | bit(EventType::rcl_node_init);
    ready = ready.and_then([&] {
      return recorder->attach_to_tracing_functions(watched & ~other_events, !options.only_started);
    });
  }
  if (calls) {
    ready =
        ready
            .and_then([&] { return recorder->attach_to_middleware(events, !options.only_started); })
            .and_then([&] { return recorder->attach_to_rcl(events, !options.only_started); });
  }
  if (!ready) {
    return tl::unexpected(ready.error());
  }
  recorder->all_placed_ = ring::now();
  recorder->reader_ = std::thread([recorder = recorder.get()] { recorder->run(); });
  if (calls && !options.only_started) {
    recorder->recover_older_objects(before);
  }
  return recorder;
}

Recorder::~Recorder() { end(); }

Result<void> Recorder::load(const Options& options, bool calls) {
  libbpf_set_print(nullptr);
  LIBBPF_OPTS(bpf_object_open_opts, open_options, .object_name = "takt");
  const auto code = ebpf::probes();
  object_.reset(bpf_object__open_mem(code.data(), code.size(), &open_options));
  if (!object_) {
    return tl::unexpected(refused("open the probes", -errno));
  }
  const bool kernel = destination_.of_kernel != nullptr;
  for (const char* name : {"on_switch", "on_wakeup", "on_wakeup_new", "on_exit"}) {
    bpf_program__set_autoload(program(name), kernel);
  }
  for (const char* name : {"on_turn", "on_thread_end"}) {
    bpf_program__set_autoload(program(name), destination_.clocks);
  }
  const bool follows = kernel || options.only_started;
  for (const char* name : {"on_fork", "on_free"}) {
    bpf_program__set_autoload(program(name), follows);
  }
  for (const char* name : {"on_call", "on_message"}) {
    probes_.prepare(program(name));
  }
  has_page_faults_ = kernel && libbpf_find_vmlinux_btf_id(page_fault, BPF_TRACE_RAW_TP) > 0;
  bpf_program__set_autoload(program("on_page_fault"), has_page_faults_);
  // The probes' only constants, in their order there.
  const struct {
    bool follows;
    bool only_started;
    bool calls;
    bool clocks_run;
    std::uint32_t name_space;
  } constants{follows, options.only_started, calls, destination_.clocks, inner_name_space()};
  if (const int failed = bpf_map__set_initial_value(
          bpf_object__find_map_by_name(object_.get(), ".rodata"), &constants, sizeof constants);
      failed < 0) {
    return tl::unexpected(refused("prepare the probes", failed));
  }
  constexpr std::uint64_t least_buffer = 64 << 10;
  constexpr std::uint64_t largest_buffer = 1 << 30;
  const std::uint64_t buffer_size =
      options.buffer_size == 0
          ? TAKT_BPF_BUFFER_SIZE
          : std::bit_ceil(std::clamp(options.buffer_size, least_buffer, largest_buffer));
  for (const char* name : buffers) {
    bpf_map__set_max_entries(bpf_object__find_map_by_name(object_.get(), name),
                             static_cast<std::uint32_t>(buffer_size));
  }
  if (const int failed = bpf_object__load(object_.get()); failed < 0) {
    return tl::unexpected(refused("load probes", failed));
  }
  const int recipes = bpf_object__find_map_fd_by_name(object_.get(), "recipes");
  for (std::uint32_t event = 0; event < tracepoints::of_programs.size(); ++event) {
    const auto recipe = recipe_of(static_cast<EventType>(event));
    bpf_map_update_elem(recipes, &event, &recipe, BPF_ANY);
  }
  for (const char* name : buffers) {
    const int buffer = bpf_object__find_map_fd_by_name(object_.get(), name);
    if (const int failed = records_.add(buffer, buffer_size); failed < 0) {
      return tl::unexpected(refused("map the probes' records", failed));
    }
  }
  return {};
}

Result<void> Recorder::follow_processes(const Options& options) {
  const int processes = bpf_object__find_map_fd_by_name(object_.get(), "processes");
  const auto add = [processes](pid_t process, takt_process_role role) {
    const takt_process value{role, static_cast<std::uint32_t>(start_of(process))};
    bpf_map_update_elem(processes, &process, &value, BPF_ANY);
  };
  Result<void> attached;
  if (destination_.of_kernel || options.only_started) {
    attached = attach("on_fork").and_then([&] { return attach("on_free"); });
  }
  if (destination_.clocks) {
    attached = attached.and_then([&] { return attach("on_turn"); }).and_then([&] {
      return attach("on_thread_end");
    });
  }
  if (options.only_started) {
    add(getpid(), TAKT_STARTER);
  } else if (destination_.of_kernel) {
    for (const auto& [process, library] : processes_with(tracetools)) {
      add(process, TAKT_TRACED);
    }
  }
  if (destination_.of_kernel) {
    for (const char* name : {"on_switch", "on_wakeup", "on_wakeup_new", "on_exit"}) {
      attached = attached.and_then([&] { return attach(name); });
    }
    if (has_page_faults_) attached = attached.and_then([&] { return attach("on_page_fault"); });
  }
  return attached;
}

Result<void> Recorder::attach(const char* name) {
  bpf_link* link = bpf_program__attach(program(name));
  if (link == nullptr) {
    return tl::unexpected(refused("watch the scheduler", -errno));
  }
  links_.emplace_back(link);
  return {};
}

Result<void> Recorder::attach(const char* name, const Library& library,
                              const std::vector<Function>& functions) {
  // Probes keep descriptors, and the traces need some, too.
  if (is_brought_along(library) && !half_are_left_after(library.file.get())) {
    return tl::unexpected(refused(fmt::format("watch {}", library.path.string()), -EMFILE));
  }
  if (const int failed = probes_.attach(program(name), library.opened(), functions); failed < 0) {
    return tl::unexpected(refused(fmt::format("watch {}", library.path.string()), failed));
  }
  return {};
}

Result<void> Recorder::attach_to_tracing_functions(std::uint64_t events, bool running) {
  std::vector<std::string> names;
  for (std::size_t number = 0; number < tracepoints::of_programs.size(); ++number) {
    names.push_back(function_of(static_cast<EventType>(number)));
  }
  Result<void> failed =
      error("no {} is known or in use: is ROS 2 set up, or does a ROS 2 program run?", tracetools);
  const auto watch = [&](const Library& library) -> Result<void> {
    const auto offsets = untrusted_function_offsets(library.file.get(), names);
    if (!offsets || std::ranges::none_of(*offsets, &std::optional<std::uint64_t>::has_value)) {
      return {};
    }
    const auto place = std::min<std::size_t>(watched_.size(), TAKT_BPF_LIBRARIES - 1);
    const unsigned gid_size = gid_size_of(*offsets);
    std::vector<Function> functions;
    std::uint64_t watched_events = 0;
    for (std::size_t number = 0; number < names.size(); ++number) {
      const auto offset = (*offsets)[number];
      if (offset && (events >> number & 1) != 0) {  // not every version has every function
        functions.push_back({*offset, TAKT_COOKIE(number, gid_size, place)});
        watched_events |= std::uint64_t{1} << number;
      }
    }
    auto attached = attach("on_call", library, functions);
    if (!attached && !is_brought_along(library)) {
      return attached;
    }
    if (!attached) {
      failed = std::move(attached);
      return {};
    }
    const bool is_takts =
        (*offsets)[static_cast<std::size_t>(EventType::client_library)].has_value();
    watched_.push_back({library.identity, gid_size, tracetools_version(library), is_takts});
    events_ |= watched_events;
    return {};
  };
  return for_each_library(tracetools, running, watch).and_then([&] {
    return watched_.empty() ? failed : Result<void>();
  });
}

Result<void> Recorder::attach_to_middleware(std::uint64_t events, bool running) {
  // The first tracing library is that of this machine's ROS 2, if it has one.
  const auto gid_size = watched_.front().gid_size;
  for (const auto& middleware : middlewares()) {
    std::vector<std::string> names;
    for (const auto& function : middleware.functions) {
      names.emplace_back(function.symbol);
    }
    std::set<FileIdentity> unwatched;
    const auto watch = [&](const Library& library) -> Result<void> {
      const auto offsets = untrusted_function_offsets(library.file.get(), names);
      std::vector<Function> functions;
      for (std::size_t i = 0; offsets && i < names.size(); ++i) {
        const auto event = middleware.functions[i].event;
        const auto offset = (*offsets)[i];
        if (offset && (events & bit(event)) != 0) {
          functions.push_back({*offset, TAKT_COOKIE(static_cast<unsigned>(event), gid_size,
                                                    middleware.time_offset)});
          events_ |= bit(event);
        }
      }
      auto attached = attach("on_message", library, functions);
      if (!attached && !is_brought_along(library)) {
        return attached;
      }
      if (!attached || !offsets) {
        unwatched.insert(library.identity);
      }
      return {};
    };
    TAKT_TRY(for_each_library(middleware.library, running, watch));
    count_users(middleware.library, unwatched);
  }
  return {};
}

void Recorder::count_users(std::string_view name, const std::set<FileIdentity>& unwatched) {
  if (unwatched.empty()) return;
  for (const auto& [process, library] : processes_with(name)) {
    if (library && unwatched.contains(*library)) {
      unwatched_.emplace(process, start_of(process));
    }
  }
}

/// rclpy's executors tell nothing of callbacks, but call rcl when one begins and ends.
Result<void> Recorder::attach_to_rcl(std::uint64_t events, bool running) {
  if ((events & bit(EventType::rcl_call)) == 0) {
    return {};
  }
  using tracepoints::RclFunction;
  // From Jazzy on rcl_timer_call calls the other one.
  return attach_to_calls("librcl.so", running,
                         {{RclFunction::timer_call, "rcl_timer_call_with_info", "rcl_timer_call"},
                          {RclFunction::trigger_guard_condition, "rcl_trigger_guard_condition"}});
}

Result<void> Recorder::attach_to_calls(const char* file, bool running,
                                       const std::vector<Called>& called) {
  std::vector<std::string> names;
  for (const auto& each : called) {
    names.emplace_back(each.symbol);
    names.emplace_back(each.older_symbol);
  }
  std::set<FileIdentity> unwatched;
  const auto watch = [&](const Library& library) -> Result<void> {
    const auto offsets = untrusted_function_offsets(library.file.get(), names);
    std::vector<Function> functions;
    for (std::size_t i = 0; offsets && i < called.size(); ++i) {
      const auto offset = (*offsets)[2 * i] ? (*offsets)[2 * i] : (*offsets)[2 * i + 1];
      if (!offset) continue;
      functions.push_back({*offset, TAKT_COOKIE(static_cast<unsigned>(EventType::rcl_call),
                                                watched_.front().gid_size,
                                                static_cast<unsigned>(called[i].function))});
      events_ |= bit(EventType::rcl_call);
    }
    auto attached = attach("on_call", library, functions);
    if (!attached && !is_brought_along(library)) {
      return attached;
    }
    if (!attached || !offsets) {
      unwatched.insert(library.identity);
    }
    return {};
  };
  auto attached = for_each_library(file, running, watch);
  count_users(file, unwatched);
  return attached;
}

const Recorder::Watched* Recorder::watched(const std::optional<FileIdentity>& library) const {
  const auto found =
      std::ranges::find_if(watched_, [&](const Watched& each) { return each.file == library; });
  return found == watched_.end() ? nullptr : &*found;
}

bool Recorder::records(pid_t process) {
  // Whoever keeps fewer capabilities may not open a library that has been replaced since.
  return older_.contains(process) || watched(library_used_by(process, tracetools)) != nullptr;
}

bpf_program* Recorder::program(const char* name) const {
  return bpf_object__find_program_by_name(object_.get(), name);
}

Recorder::Dropped Recorder::dropped() const {
  takt_dropped counted{};
  const std::uint32_t only = 0;
  bpf_map_lookup_elem(bpf_object__find_map_fd_by_name(object_.get(), ".bss"), &only, &counted);
  // Events that found no room are also missing for the check of continuity: count them once.
  Dropped dropped{counted.calls + untaken_calls_,
                  std::max<std::uint64_t>(counted.sched, continuity_.missing()), counted.processes};
  // The kernel passes over a probe that is hit while it runs on the same processor.
  bpf_program* program = nullptr;
  bpf_object__for_each_program(program, object_.get()) {
    bpf_prog_info info{};
    std::uint32_t length = sizeof info;
    if (bpf_program__fd(program) >= 0 &&
        bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &length) == 0) {
      const bool call = bpf_program__type(program) == BPF_PROG_TYPE_KPROBE;
      (call ? dropped.calls : dropped.sched) += info.recursion_misses;
    }
  }
  return dropped;
}

Result<Losses> Recorder::losses() {
  const std::scoped_lock lock(mutex_);
  const auto lost = dropped();
  Losses losses = object_losses_;
  losses.discarded_events += lost.calls + lost.sched + unwritten_of_ended_ +
                             (destination_.of_kernel ? destination_.of_kernel->unwritten() : 0);
  for (const auto& [identity, process] : processes_) {
    losses.discarded_events += process.sink->unwritten();
  }
  losses.unrecorded_processes = unwatched_.size() + lost.processes;
  return losses;
}

Result<void> Recorder::hand_over(const fs::path& /*directory*/) {
  const std::scoped_lock lock(mutex_);
  records_.consume();
  flush();
  return {};
}

void Recorder::take_now() {
  const std::scoped_lock lock(mutex_);
  records_.consume();
}

Result<Losses> Recorder::stop() {
  end();
  return losses();
}

void Recorder::run() {
  pthread_setname_np(pthread_self(), "takt-recorder");
  // Those that are told of as they start may be anybody's.
  const std::uint64_t watching = only_started_ ? 0 : watching_capabilities;
  try_to_keep_only_capabilities(writing_capabilities | watching | counting_capabilities());
  const bool sees_ends = sees_all_processes();
  auto next_flush = std::chrono::steady_clock::now() + flush_interval;
  auto next_retirement = std::chrono::steady_clock::now() + process_look_interval;
  while (!stopping_) {
    {
      const std::scoped_lock lock(mutex_);
      records_.consume();
      const auto now = std::chrono::steady_clock::now();
      if (now >= next_flush) {
        next_flush += flush_interval;
        flush();
      }
      if (sees_ends && now >= next_retirement) {
        next_retirement += process_look_interval;
        retire_ended_processes();
      }
    }
    std::this_thread::sleep_for(look_interval);
  }
  probes_.detach();
  links_.clear();
  const std::scoped_lock lock(mutex_);
  records_.consume();
  flush();
}

void Recorder::flush() {
  const auto lost = dropped();
  for (auto& [identity, process] : processes_) {
    const std::uint64_t calls = &process == first_ ? lost.calls : 0;  // nobody knows of whom
    process.sink->set_discarded_objects(process.lost_objects + calls);
    process.sink->flush();
  }
  if (destination_.of_kernel) {
    destination_.of_kernel->look_at_threads(ring::now());
    destination_.of_kernel->set_discarded(lost.sched);
    destination_.of_kernel->flush();
  }
}

/// Forgets processes that have ended, of which there may be any number in the course of time.
void Recorder::retire_ended_processes() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ended;
  for (const auto& [identity, process] : processes_) {
    const auto& [number, start] = identity;
    const bool runs = static_cast<std::uint32_t>(start_of(static_cast<pid_t>(number))) == start;
    if (!runs && &process != first_) {
      ended.push_back(identity);
    }
  }
  if (ended.empty()) {
    return;
  }
  records_.consume();  // what they did last
  flush();
  for (const auto& identity : ended) {
    unwritten_of_ended_ += processes_.at(identity).sink->unwritten();
    processes_.erase(identity);
  }
}

void Recorder::take(std::span<const std::byte> record) {
  unsigned kind = 0;
  std::memcpy(&kind, record.data(), sizeof kind);
  if (kind == TAKT_RECORD_SCHED && destination_.of_kernel) {
    takt_sched event{};
    std::memcpy(&event, record.data(), sizeof event);
    destination_.of_kernel->append(event);
    continuity_.take(event);
    if (event.first_traced != 0) destination_.of_kernel->note(event.first.thread, event.time);
    if (event.second_traced != 0) destination_.of_kernel->note(event.second.thread, event.time);
  } else if (kind == TAKT_RECORD_CALL) {
    takt_call call{};
    std::memcpy(&call, record.data(), sizeof call);
    take_call(call, record.subspan(sizeof call));
  }
}

void Recorder::take_call(takt_call& call, std::span<const std::byte> texts) {
  // Before all probes are placed they show half of what a program does.
  if (call.time < all_placed_ &&
      !tracepoints::is_initialisation(static_cast<EventType>(call.event))) {
    return;
  }
  const bool is_new = !processes_.contains({call.process, call.start});
  Process* its = process(call.process, call.start, call.gid_size);
  if (its == nullptr) {
    ++untaken_calls_;
    return;
  }
  if (is_new) tell_client_library(call, *its->sink);
  call.gid_size = static_cast<unsigned char>(its->gid_size);
  if (call.event == static_cast<unsigned>(EventType::rcl_call)) {
    call.arguments[1] = call.library;  // for this event, which function it is
  }
  const std::string_view version =
      call.library < watched_.size() ? std::string_view(watched_[call.library].version) : "";
  const auto event = static_cast<EventType>(call.event);
  its->names_callbacks = its->names_callbacks || event == EventType::callback_start;
  if (event == EventType::callback_end) take_clock(call, *its);
  if (!its->sink->append(call.time, call.thread, call.name, call.event,
                         fields_of(call, texts, version))) {
    ++untaken_calls_;
  }
  const bool may_begin_or_end =
      event == EventType::rcl_call && !its->names_callbacks &&
      call.library == static_cast<unsigned>(tracepoints::RclFunction::trigger_guard_condition);
  if (event == EventType::callback_start || may_begin_or_end) take_clock(call, *its);
}

/// Beside the begin or the end of a callback, as Takt's library tells it.
void Recorder::take_clock(const takt_call& call, Process& its) {
  if (call.waits == 0) return;
  ctf::Fields fields(0);
  const tracepoints::ThreadCpuTime clock{.cpu_time = static_cast<std::int64_t>(call.cpu_time),
                                         .waits = static_cast<std::int64_t>(call.waits),
                                         .ready_time = 0};
  if (!its.sink->append(call.time, call.thread, call.name,
                        static_cast<std::uint16_t>(EventType::thread_cpu_time),
                        fields.encode(clock))) {
    ++untaken_calls_;
  }
}

Recorder::Process* Recorder::process(std::uint32_t number, std::uint32_t start, unsigned gid_size) {
  const std::pair identity(number, start);
  if (const auto known = processes_.find(identity); known != processes_.end()) {
    return &known->second;
  }
  const auto pid = static_cast<pid_t>(number);
  if (processes_.size() >= process_limit) {
    return nullptr;
  }
  auto sink = destination_.of_process(pid, events_, gid_size);
  if (!sink) {
    return nullptr;
  }
  Process& added = processes_.emplace(identity, Process{std::move(*sink), gid_size}).first->second;
  first_ = first_ == nullptr ? &added : first_;
  return &added;
}

/// Says that the process of a call uses rclpy, if it cannot do so itself: Takt's tracing library
/// does.
void Recorder::tell_client_library(const takt_call& call, ProcessSink& sink) const {
  const bool is_known = (other_events >> call.event & 1) == 0 && call.library < watched_.size();
  const auto process = static_cast<pid_t>(call.process);
  if (!is_known || watched_[call.library].is_takts || !uses_library(process, rclpy)) {
    return;
  }
  std::array<char, 16> name{};
  program_of(process).copy(name.data(), name.size() - 1);
  const auto [event, payload] = client_library("rclpy");
  sink.append_object(call.time, call.process, name, static_cast<std::uint16_t>(event), payload);
}

void Recorder::recover_older_objects(std::uint64_t time) {
  const auto deadline = std::chrono::steady_clock::now() + recoveries_patience;
  struct Older {
    pid_t process;
    std::uint32_t start;  // known now: it may end before it is searched
    unsigned gid_size;
  };
  std::vector<Older> all;
  for (const auto& [pid, library] : processes_with(tracetools)) {
    if (const Watched* its = watched(library)) {
      older_.insert(pid);
      all.push_back({pid, static_cast<std::uint32_t>(start_of(pid)), its->gid_size});
    }
  }
  for (const auto& [pid, start, gid_size] : all) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    recover(pid, start, gid_size, time,
            std::clamp<std::chrono::milliseconds>(left, 0ms, recovery_patience));
  }
}

void Recorder::recover(pid_t pid, std::uint32_t start, unsigned gid_size, std::uint64_t time,
                       std::chrono::milliseconds patience) {
  const auto mapping = ring::Mapping::of(ring::ring_of(pid).get());
  const bool remembers = mapping && mapping->gid_size() == gid_size;
  const auto recovered = remembers ? std::nullopt : recover_events(pid, gid_size, patience);

  const std::scoped_lock lock(mutex_);
  Process* its = process(static_cast<std::uint32_t>(pid), start, gid_size);
  if (its == nullptr) {
    return;
  }
  if (remembers) {
    const auto lost = ring::append_objects(*mapping, events_, time, ring::now(), *its->sink);
    object_losses_ = object_losses_ + lost;
    its->lost_objects = lost.discarded_events + lost.malformed_events;
  }
  std::array<char, 16> name{};
  program_of(pid).copy(name.data(), name.size() - 1);
  std::vector<RecoveredEvent> told;
  if (!remembers) {
    told = recovered.value_or(std::vector<RecoveredEvent>{nothing_recovered()});
  } else if (uses_library(pid, rclpy)) {
    told.push_back(client_library("rclpy"));  // Takt's part of rclpy may be missing
  }
  for (const auto& [event, payload] : told) {
    if ((events_ & bit(event)) != 0) {
      its->sink->append_object(time, static_cast<std::uint32_t>(pid), name,
                               static_cast<std::uint16_t>(event), payload);
    }
  }
}

void Recorder::end() {
  stopping_ = true;
  if (reader_.joinable()) {
    reader_.join();
  }
}

}  // namespace takt::capture::ebpf
