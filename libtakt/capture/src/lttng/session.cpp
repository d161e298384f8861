#include "session.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "../process.hpp"
#include "../process_trace.hpp"
#include "../ring/discovery.hpp"
#include "../selection.hpp"
#include "daemon.hpp"
#include "takt/base/capabilities.hpp"
#include "takt/base/try.hpp"
#include "takt/capture/environment.hpp"
#include "takt/capture/ring/selection_text.hpp"
#include "takt/capture/ring/writer.hpp"
#include "takt/tracepoints/tracepoints.hpp"

namespace takt::capture::lttng {

namespace {

constexpr const char* channel_name = "takt";
constexpr std::string_view session_prefix = "takt-";

// Per user and processor, 8 sub-buffers of 1 MiB: with about 45 bytes per event, a reader that
// sleeps for half a second loses nothing at 300 000 events per second. The reader looks every 50 ms
// by a timer of its own, so that no traced thread makes a system call to wake it. Every second a
// sub-buffer is handed over even if it is not full, so that an interrupted recording has all but
// the last second.
constexpr std::uint64_t largest_sub_buffer = 1 << 20;
constexpr std::uint64_t usual_buffer = 8 * largest_sub_buffer;
constexpr unsigned read_interval_us = 50'000;
constexpr unsigned switch_interval_us = 1'000'000;

// How long programs without LTTng are waited for that are asked to load it: they do at their next
// event.
constexpr std::chrono::seconds longest_load{1};
constexpr std::chrono::milliseconds look_interval{10};

Error refused(std::string_view what, int code) {
  return Error{fmt::format("LTTng cannot {}: {}", what, lttng_strerror(code))};
}

/// lttng_strerror takes the negative codes of the older functions; newer ones return positive ones.
Error refused(std::string_view what, lttng_error_code code) {
  return refused(what, -static_cast<int>(code));
}

lttng_domain user_space() {
  lttng_domain domain{};
  domain.type = LTTNG_DOMAIN_UST;
  domain.buf_type = LTTNG_BUFFER_PER_UID;
  return domain;
}

std::uint64_t processors() {
  return static_cast<std::uint64_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

/// The names of the initialisation events, in the form that LTTng wants. In snapshots they come
/// from the processes' object logs, since LTTng would forget them.
std::vector<std::array<char, LTTNG_SYMBOL_NAME_LEN>> initialisation_names() {
  std::vector<std::array<char, LTTNG_SYMBOL_NAME_LEN>> names;
  for (std::size_t number = 0; number < tracepoints::choosable; ++number) {
    if ((tracepoints::initialisation_events() >> number & 1) != 0) {
      const auto& tracepoint = tracepoints::of_programs[number];
      fmt::format_to_n(names.emplace_back().begin(), LTTNG_SYMBOL_NAME_LEN - 1, "{}:{}",
                       tracepoint.provider, tracepoint.name);
    }
  }
  return names;
}

/// A name for a session of ours.
std::string new_name() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return fmt::format("{}{}-{:x}", session_prefix, getpid(), now.count());
}

/// The process that made a session of ours; 0 for a session of someone else.
pid_t maker_of(std::string_view name) {
  if (!name.starts_with(session_prefix)) {
    return 0;
  }
  name.remove_prefix(session_prefix.size());
  pid_t pid = 0;
  const auto [end, failed] = std::from_chars(name.data(), name.data() + name.size(), pid);
  const bool ours = failed == std::errc{} && end != name.data() + name.size() && *end == '-';
  return ours ? pid : 0;
}

/// Destroys sessions of recorders that were killed before they could do it themselves.
void clear_abandoned_sessions() {
  lttng_session* sessions = nullptr;
  const int count = lttng_list_sessions(&sessions);
  for (int i = 0; i < count; ++i) {
    const pid_t maker = maker_of(sessions[i].name);
    if (maker > 0 && kill(maker, 0) != 0 && errno == ESRCH) {
      lttng_destroy_session(sessions[i].name);
    }
  }
  std::free(sessions);
}

}  // namespace

Result<std::unique_ptr<Session>> Session::start(const std::filesystem::path& directory,
                                                ctf::Storage& storage, const Options& options) {
  const auto events = TAKT_TRY(select(options.events));
  const std::string name = new_name();
  auto guard = IfKilled::run(Daemon::after_kill(name));  // before there is anything to end
  if (!guard) {
    return tl::unexpected(guard.error());
  }
  auto daemon = TAKT_TRY(Daemon::ensure());
  clear_abandoned_sessions();

  std::unique_ptr<Session> session(new Session(events, options));
  session->daemon_ = std::move(daemon);
  session->guard_ = std::move(*guard);
  if (options.snapshot) {
    session->keep_objects(options.snapshot_size);
  }
  auto ready = session->create(name, directory)
                   .and_then([&] { return session->add_channel(); })
                   .and_then([&] { return session->add_contexts(); });
  for (const auto& event : options.events) {
    ready = ready.and_then([&] { return session->enable(event); });
  }
  if (options.only_started) {
    ready = ready.and_then([&] { return session->track_only_started(); });
  }
  if (!ready) {
    return tl::unexpected(ready.error());
  }
  session->start_ = ring::now();
  if (const int code = lttng_start_tracing(session->name_.c_str()); code < 0) {
    return tl::unexpected(refused("start to trace", code));
  }
  if (options.only_started) {
    return session;
  }
  session->ask_running_programs();
  if (options.snapshot) {
    session->search_for_objects();
  } else if (auto recorded = session->record_older_objects(storage); !recorded) {
    return tl::unexpected(recorded.error());
  }
  return session;
}

Session::Session(std::uint64_t events, const Options& options)
    : events_(events),
      snapshot_(options.snapshot),
      selection_(ring::selection_text(options.selection)) {
  const std::uint64_t usual = snapshot_ ? options.snapshot_size / processors() : usual_buffer;
  const std::uint64_t size = options.buffer_size != 0 ? options.buffer_size : usual;
  // No event is longer than a quarter of the least buffer, and there are two for LTTng to change.
  constexpr std::uint64_t least_buffer = 256 << 10;
  constexpr std::uint64_t largest_buffer = std::uint64_t{1} << 32;
  const auto all = std::bit_ceil(std::clamp(size, least_buffer, largest_buffer));
  sub_buffer_size_ = std::min(largest_sub_buffer, snapshot_ ? largest_sub_buffer : all / 4);
  sub_buffer_count_ = std::max<std::uint64_t>(2, all / sub_buffer_size_);
}

void Session::admit_no_more() {
  search_.reset();
  if (gate_) {
    gate_->close();
    late_processes_ += gate_->late();
    gate_.reset();
  }
}

Session::~Session() {
  admit_no_more();
  if (!name_.empty()) {
    lttng_destroy_session(name_.c_str());
  }
}

std::map<std::string, std::string> Session::environment() const {
  if (!gate_) {
    return {};
  }
  return {{gate_variable, gate_->address()}};
}

Result<Losses> Session::losses() {
  const std::scoped_lock lock(control_);
  return read_losses();
}

bool Session::records(pid_t process) {
  const std::scoped_lock lock(knowing_);
  return known_.contains(process);
}

Result<void> Session::hand_over(const std::filesystem::path& directory) {
  if (search_) {
    search_->look_now();
  }
  const std::scoped_lock lock(control_);
  std::unique_ptr<lttng_snapshot_output, decltype(&lttng_snapshot_output_destroy)> output(
      lttng_snapshot_output_create(), &lttng_snapshot_output_destroy);
  lttng_snapshot_output_set_local_path(directory.c_str(), output.get());
  if (const int code = lttng_snapshot_record(name_.c_str(), output.get(), 0); code < 0) {
    return tl::unexpected(refused("write what it holds", code));
  }
  objects_->collect();
  return kept_objects_->write(directory);
}

/// LTTng's daemon writes the trace and does not report when it cannot. So there must be room for
/// all that it may write until the next look and at the end: the sub-buffers in use, and those that
/// half a second fills.
std::uint64_t Session::needed_space() const {
  return (processors() + sub_buffer_count_) * sub_buffer_size_;
}

/// Objects do not grow old with LTTng's buffers, beside which they are kept: nobody knows of which
/// processes these still hold events.
void Session::keep_objects(std::size_t size) {
  kept_objects_ = std::make_unique<ctf::Newest>(size);
  objects_ = std::make_unique<ring::Objects>(
      *kept_objects_, events_ & tracepoints::initialisation_events(), ring::now());
}

void Session::search_for_objects() {
  search_ = std::make_unique<ring::Search>(
      [this](pid_t process, const Descriptor& memory) {
        const std::scoped_lock lock(control_);
        return objects_->admit(process, memory);
      },
      watching_capabilities);
}

void Session::ask_running_programs() {
  std::vector<ring::Mapping> asked;
  for (const auto& [process, memory] : ring::running_rings()) {
    auto mapping = ring::Mapping::of(memory.get());
    if (!mapping) continue;
    // What a killed recorder wanted left out is wanted again. What another one wants left out,
    // which has the ring, is missing here, too.
    if (!ring::HeldSelection::put(memory.get(), {}) &&
        !ring::selection_text(*mapping->ring()).empty()) {
      ++unrecorded_processes_;
    }
    if (mapping->ring()->lttng == ring::LttngIs::absent) {
      mapping->ring()->lttng_asked = 1;
      asked.push_back(std::move(*mapping));
    }
  }
  const auto waits = [](const ring::Mapping& program) {
    return program.ring()->lttng == ring::LttngIs::absent;
  };
  const auto deadline = std::chrono::steady_clock::now() + longest_load;
  while (std::ranges::any_of(asked, waits) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(look_interval);
  }
  for (const auto& program : asked) {
    late_processes_ += waits(program) ? 1U : 0U;  // until its next event
    unrecorded_processes_ += program.ring()->lttng == ring::LttngIs::impossible ? 1U : 0U;
  }
}

Result<void> Session::record_older_objects(ctf::Storage& storage) {
  Result<void> recorded;
  for (const auto& [process, memory] : ring::running_rings()) {
    const auto mapping = ring::Mapping::of(memory.get());
    if (!mapping) {  // by another version of Takt: nobody will know what its handles mean
      ++object_losses_.unrecorded_processes;
      continue;
    }
    if (!recorded) {
      break;
    }
    const auto events = events_ & tracepoints::initialisation_events();
    const auto name = fmt::format("{}-{}", file_name_of(process), process);
    auto trace = ProcessTrace::create_beside(storage, std::filesystem::path("objects") / name,
                                             "takt-objects", process, events, mapping->gid_size());
    recorded = trace.map([&](const auto& objects) {
      object_losses_ =
          object_losses_ + ring::append_objects(*mapping, events, start_, start_, *objects);
      objects->flush();
    });
  }
  return recorded.and_then([&] { return storage.written(); });
}

Result<Losses> Session::stop() {
  admit_no_more();
  const std::scoped_lock lock(control_);
  const int stopped = lttng_stop_tracing(name_.c_str());
  auto losses = read_losses();
  const std::string name = std::exchange(name_, {});
  const int destroyed = lttng_destroy_session(name.c_str());
  selections_.clear();
  if (stopped < 0 && stopped != -LTTNG_ERR_TRACE_ALREADY_STOPPED) {
    return tl::unexpected(refused("stop to trace", stopped));
  }
  if (destroyed < 0) {
    return tl::unexpected(refused("complete the trace", destroyed));
  }
  return losses;
}

Result<void> Session::create(std::string name, const std::filesystem::path& directory) {
  const std::string url = "file://" + directory.string();
  const int code = snapshot_ ? lttng_create_session_snapshot(name.c_str(), nullptr)
                             : lttng_create_session(name.c_str(), url.c_str());
  if (code < 0) {
    return tl::unexpected(refused("create a session", code));
  }
  name_ = std::move(name);
  auto domain = user_space();
  handle_.reset(lttng_create_handle(name_.c_str(), &domain));
  return {};
}

Result<void> Session::add_channel() {
  auto domain = user_space();
  std::unique_ptr<lttng_channel, decltype(&lttng_channel_destroy)> channel(
      lttng_channel_create(&domain), &lttng_channel_destroy);
  std::copy_n(channel_name, std::string_view(channel_name).size() + 1, channel->name);
  channel->attr.subbuf_size = sub_buffer_size_;
  channel->attr.num_subbuf = sub_buffer_count_;
  if (snapshot_) {
    channel->attr.overwrite = 1;
  } else {
    channel->attr.overwrite = 0;  // when the buffers are full, lose new events and count them
    channel->attr.switch_timer_interval = switch_interval_us;
    channel->attr.read_timer_interval = read_interval_us;
  }
  channel->attr.output = LTTNG_EVENT_MMAP;
  if (const int code = lttng_enable_channel(handle_.get(), channel.get()); code < 0) {
    return tl::unexpected(refused("create its buffers", code));
  }
  return {};
}

Result<void> Session::enable(const std::string& event) {
  std::unique_ptr<lttng_event, decltype(&lttng_event_destroy)> rule(lttng_event_create(),
                                                                    &lttng_event_destroy);
  if (event.empty() || event.size() >= sizeof rule->name) {
    return error(
        "'{}' is not the name of an event; expected for example ros2:rcl_publish or ros2:*", event);
  }
  std::ranges::copy(event, rule->name);
  rule->type = LTTNG_EVENT_TRACEPOINT;
  rule->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
  auto excluded = initialisation_names();
  std::vector<char*> exclusions;
  if (snapshot_ && event.ends_with('*')) {
    for (auto& name : excluded) {
      if (fnmatch(event.c_str(), name.data(), 0) == 0) {
        exclusions.push_back(name.data());
      }
    }
  }
  const int code =
      lttng_enable_event_with_exclusions(handle_.get(), rule.get(), channel_name, nullptr,
                                         static_cast<int>(exclusions.size()), exclusions.data());
  if (code < 0 && code != -LTTNG_ERR_UST_EVENT_ENABLED) {
    return tl::unexpected(refused(fmt::format("enable the event '{}'", event), code));
  }
  return {};
}

Result<void> Session::add_contexts() {
  for (const auto context :
       {LTTNG_EVENT_CONTEXT_VPID, LTTNG_EVENT_CONTEXT_VTID, LTTNG_EVENT_CONTEXT_PROCNAME}) {
    lttng_event_context request{};
    request.ctx = context;
    if (const int code = lttng_add_context(handle_.get(), &request, nullptr, channel_name);
        code < 0) {
      return tl::unexpected(refused("record the process and thread of events", code));
    }
  }
  // Each container counts its processes from 1. Old tracers have no such context.
  lttng_event_context name_space{};
  name_space.ctx = LTTNG_EVENT_CONTEXT_PID_NS;
  (void)lttng_add_context(handle_.get(), &name_space, nullptr, channel_name);
  return {};
}

Result<void> Session::track_only_started() {
  lttng_process_attr_tracker_handle* tracker = nullptr;
  if (const auto code = lttng_session_get_tracker_handle(
          name_.c_str(), LTTNG_DOMAIN_UST, LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID, &tracker);
      code != LTTNG_OK) {
    return tl::unexpected(refused("select processes", code));
  }
  tracker_.reset(tracker);
  if (lttng_process_attr_tracker_handle_set_tracking_policy(tracker_.get(),
                                                            LTTNG_TRACKING_POLICY_INCLUDE_SET) !=
      LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK) {
    return error("LTTng cannot select processes by their id");
  }
  auto gate = Gate::open([this](pid_t process, const Descriptor& memory) {
    {
      const std::scoped_lock known(knowing_);
      known_.insert(process);
    }
    const std::scoped_lock lock(control_);
    const auto mapping = ring::Mapping::of(memory.get());
    if (process == 0 ||  // outside of our namespace of processes
        (mapping && mapping->ring()->lttng != ring::LttngIs::present)) {
      ++unrecorded_processes_;
      return;
    }
    if (objects_) {
      objects_->admit(process, memory);
    }
    if (auto held = selection_.empty() ? std::nullopt
                                       : ring::HeldSelection::put(memory.get(), selection_)) {
      selections_.push_back(std::move(*held));
    }
    // LTTng knows programs by their numbers in its own namespace here, in spite of the name.
    const auto added =
        lttng_process_attr_virtual_process_id_tracker_handle_add_pid(tracker_.get(), process);
    if (added != LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK &&
        added != LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_EXISTS) {  // it executed another program
      ++unrecorded_processes_;
    }
  });
  if (!gate) {
    return tl::unexpected(gate.error());
  }
  gate_ = std::move(*gate);
  return {};
}

Result<Losses> Session::read_losses() {
  lttng_channel* channels = nullptr;
  const int count = lttng_list_channels(handle_.get(), &channels);
  if (count < 0) {
    return tl::unexpected(refused("say what it lost", count));
  }
  Losses losses = object_losses_;
  if (objects_) {
    losses = objects_->losses();
    losses.lost_packets = kept_objects_->lost_packets();
  }
  losses.unrecorded_processes += unrecorded_processes_;
  losses.late_processes = late_processes_ + (gate_ ? gate_->late() : 0);
  for (int i = 0; i < count; ++i) {
    std::uint64_t discarded = 0;
    std::uint64_t lost = 0;
    lttng_channel_get_discarded_event_count(&channels[i], &discarded);
    lttng_channel_get_lost_packet_count(&channels[i], &lost);
    losses.discarded_events += discarded;
    losses.lost_packets += lost;
  }
  std::free(channels);
  return losses;
}

}  // namespace takt::capture::lttng
