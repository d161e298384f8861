#include "keeper.hpp"

#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "takt/base/json_text.hpp"
#include "takt/base/printable.hpp"
#include "takt/base/try.hpp"
#include "takt/linux/affinity.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::threads {

namespace {

using Json = nlohmann::ordered_json;
using linux_os::DeadlineScheduling;
using linux_os::ThreadIdentity;
using namespace std::chrono_literals;

constexpr auto look_interval = 50ms;
/// Threads of the middleware come without an event.
constexpr auto longest_without_look = 1s;

void print(const Json& line) {
  const std::string text = json_text(line) + "\n";
  // A closed standard output is no reason to end; the end of standard input is one.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
  std::fflush(stdout);
}

/// The name of the process's main thread.
std::string program_of(const ThreadIdentity& thread) {
  const auto main = linux_os::identify(thread.process, thread.process);
  return main ? linux_os::name_of(*main) : "";
}

}  // namespace

std::vector<int> exclusive_cores(const std::vector<Row>& rows, const std::vector<int>& processors) {
  std::set<int> cores;
  for (const Row& row : rows) {
    if (!std::holds_alternative<DeadlineScheduling>(row.scheduling)) continue;
    if (row.cores != processors) cores.insert(row.cores.begin(), row.cores.end());
  }
  return {cores.begin(), cores.end()};
}

Result<std::unique_ptr<Keeper>> Keeper::start(std::vector<Row> rows, std::vector<int> exclusive,
                                              bool only_started,
                                              std::unique_ptr<linux_os::Guard> guard) {
  return live::Stream::start(capture::Tracer::ring, only_started).map([&](auto stream) {
    return std::unique_ptr<Keeper>(
        new Keeper(std::move(rows), std::move(exclusive), std::move(stream), std::move(guard)));
  });
}

Keeper::Keeper(std::vector<Row> rows, std::vector<int> exclusive,
               std::unique_ptr<live::Stream> stream, std::unique_ptr<linux_os::Guard> guard)
    : rows_(std::move(rows)),
      exclusive_(std::move(exclusive)),
      stream_(std::move(stream)),
      guard_(std::move(guard)),
      interpreter_(stream_->threads()) {
  interpreter_.add(sight_);
}

std::string Keeper::greeting() const {
  return json_text(Json{{"event", "ready"}, {"environment", stream_->environment()}}) + "\n";
}

std::string Keeper::run(int signals) {
  std::array<pollfd, 2> events{{{STDIN_FILENO, POLLIN, 0}, {signals, POLLIN, 0}}};
  auto next = Clock::now();
  for (;;) {
    next = std::max(next + look_interval, Clock::now() - look_interval);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    if (poll(events.data(), events.size(), std::max(0, static_cast<int>(left.count()))) > 0) break;
    if (!guard_->is_alive()) {
      guard_->restore();
      return "the process that restores threads was killed; all threads are as they were";
    }
    look();
  }
  guard_->restore();
  return "";
}

void Keeper::look() {
  if (stream_->read(batch_)) interpreter_.consume(batch_);
  const execution::Database& database = interpreter_.database();
  const std::uint64_t structure = sight_.structure(database);
  const auto now = Clock::now();
  if (std::exchange(structure_, structure) != structure || now - seen_ >= longest_without_look) {
    seen_ = now;
    threads_ = sight_.threads(database, linux_os::monotonic_now());
    assignment_ = assign(rows_, threads_);
    std::erase_if(applied_, [&](const Applied& applied) { return is_taken_back(applied); });
    for (const auto& [row, reason, is_repeated] : assignment_.problems) {
      if (!problems_.emplace(row, reason).second || is_repeated) continue;
      say(fmt::format("threads[{}] ({}) is not applied: {}", row, subject_of(rows_[row]), reason));
    }
  }
  keep();
}

/// Whether a problem keeps the row from a thread to which it had been applied.
bool Keeper::is_taken_back(const Applied& applied) const {
  const auto thread =
      std::ranges::find(threads_, applied.thread, [](const auto& seen) { return seen.identity; });
  if (thread == threads_.end()) return false;
  const Fit fit{applied.row, static_cast<std::size_t>(thread - threads_.begin())};
  return std::ranges::count(assignment_.problems, applied.row, &Problem::row) > 0 &&
         std::ranges::count(assignment_.fits, fit) == 0;
}

/// Also brings back what a program has changed itself.
void Keeper::keep() {
  std::set<ThreadIdentity> wanted;
  for (const Fit& fit : assignment_.fits) wanted.insert(threads_[fit.thread].identity);
  std::erase_if(scheduled_, [&](const ThreadIdentity& thread) {
    if (wanted.contains(thread)) return false;
    cores_.erase(thread);
    return guard_->restore(thread).has_value() || !linux_os::is_alive(thread);
  });
  for (const Fit& fit : assignment_.fits) {
    const Row& row = rows_[fit.row];
    const SeenThread& thread = threads_[fit.thread];
    if (!linux_os::is_alive(thread.identity)) continue;
    if (is_kept(row, thread.identity)) {
      tell(fit, thread, "");
      continue;
    }
    const std::optional<int> core = core_for(row, thread.identity);
    auto done = guard_->remember(thread.identity).and_then([&]() -> Result<bool> {
      scheduled_.insert(thread.identity);
      if (!core && !row.cores.empty()) {
        TAKT_TRY(linux_os::set_affinity(thread.identity.thread, row.cores));
      }
      return guard_->schedule(thread.identity, row.scheduling, core);
    });
    if (done && !*done) continue;  // it sleeps, and comes to its core when it wakes up
    if (!linux_os::is_alive(thread.identity)) continue;
    tell(fit, thread, done ? "" : done.error().message);
  }
}

bool Keeper::is_kept(const Row& row, const ThreadIdentity& thread) const {
  if (linux_os::get_scheduling(thread.thread) != row.scheduling) return false;
  if (row.cores.empty()) return true;
  const auto present = linux_os::affinity(thread.thread);
  return present && std::ranges::includes(row.cores, *present);
}

/// The one of the row's cores with the least reserved by us; a thread stays where it is.
std::optional<int> Keeper::core_for(const Row& row, const ThreadIdentity& thread) {
  if (!std::holds_alternative<DeadlineScheduling>(row.scheduling) || row.cores.empty() ||
      !std::ranges::includes(exclusive_, row.cores)) {
    return std::nullopt;
  }
  const auto [found, is_new] = cores_.try_emplace(thread, row.cores.front());
  if (!is_new) return found->second;
  const auto threads_on = [&](int core) {
    return std::ranges::count_if(
        cores_, [&](const auto& other) { return other.first != thread && other.second == core; });
  };
  found->second = *std::ranges::min_element(row.cores, {}, threads_on);
  return found->second;
}

void Keeper::tell(const Fit& fit, const SeenThread& thread, std::string refused) {
  const auto known = std::ranges::find_if(applied_, [&](const Applied& applied) {
    return applied.row == fit.row && applied.thread == thread.identity;
  });
  if (known != applied_.end() && known->refused == refused) return;
  const Row& row = rows_[fit.row];
  // What nothing is known of is supposed to be the row's.
  std::vector<std::string> nodes = thread.nodes.empty() ? std::vector{row.node} : thread.nodes;
  Applied applied{
      fit.row, thread.identity,   program_of(thread.identity), linux_os::name_of(thread.identity),
      nodes,   std::move(refused)};
  std::vector<std::string> others = std::move(nodes);
  std::erase(others, row.node);
  const std::string beside =
      others.empty() ? "" : fmt::format(", which also has {}", fmt::join(others, ", "));
  say(applied.refused.empty()
          ? fmt::format("{}: thread {} ({}) of process {} ({}){}: {}", subject_of(row),
                        applied.thread.thread, applied.name, applied.thread.process,
                        applied.program, beside, settings_of(row))
          : fmt::format("{}: refused: {}", subject_of(row), applied.refused));
  if (known != applied_.end()) {
    *known = std::move(applied);
  } else {
    applied_.push_back(std::move(applied));
  }
}

void Keeper::say(const std::string& line) {
  print({{"event", "changes"}, {"changes", {printable(line)}}});
}

std::string Keeper::document() const {
  Json rows = Json::array();
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    Json threads = Json::array();
    for (const Applied& applied : applied_) {
      if (applied.row != r) continue;
      threads.push_back({{"process", applied.thread.process},
                         {"program", applied.program},
                         {"thread", applied.thread.thread},
                         {"name", applied.name},
                         {"nodes", applied.nodes},
                         {"refused", applied.refused.empty() ? Json() : Json(applied.refused)}});
    }
    Json problems = Json::array();
    for (const auto& [row, reason] : problems_) {
      if (row == r) problems.push_back(reason);
    }
    rows.push_back({{"subject", subject_of(rows_[r])},
                    {"node", rows_[r].node},
                    {"settings", settings_of(rows_[r])},
                    {"threads", std::move(threads)},
                    {"problems", std::move(problems)}});
  }
  std::set<std::string> nodes;
  for (const auto& node : interpreter_.database().objects().nodes) nodes.insert(node.full_name());
  const double seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  return json_text(Json{{"format", "takt/scheduled"},
                        {"version", 1},
                        {"rows", std::move(rows)},
                        {"nodes", nodes},
                        {"lost_events", stream_->losses().discarded_events},
                        {"seconds", seconds}}) +
         "\n";
}

}  // namespace takt::threads
