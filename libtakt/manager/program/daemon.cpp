#include "daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <utility>

#include "takt/base/json_text.hpp"
#include "takt/base/try.hpp"
#include "takt/linux/stolen_time.hpp"
#include "takt/linux/thread_clock.hpp"
#include "takt/manager/log.hpp"

namespace takt::manager {

namespace {

using Json = nlohmann::ordered_json;
using namespace std::chrono_literals;

/// For so many decisions budgets are as small as the goals allow after the kernel refused some.
constexpr int crowded_lasts = 10;
/// Between two looks at the rings; a ring holds what a busy program does in many times that.
constexpr auto look_interval = 100ms;
/// Something new is given time to settle, and no two decisions are closer than this.
constexpr auto settle_interval = 1s;
constexpr auto longest_start_up = 10s;
/// Whatever it costs, there is a decision after this time.
constexpr auto longest_interval = 1min;
/// The same if something has come, gone, broken or answered.
constexpr auto longest_urgent_interval = 5s;

/// A goals file: the goals, and what it says of links.
struct GoalsFile {
  goals::ParsedGoals parsed;
  links::Declarations links;
};

Result<GoalsFile> read_goals(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) return error("{}: cannot be read", path);
  auto parsed = TAKT_TRY(goals::parse(text.str(), path));
  auto links = TAKT_TRY(links::parse_declarations(text.str(), path));
  return GoalsFile{std::move(parsed), std::move(links)};
}

/// The processor time of all threads.
Duration used_time() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto duration = [](const timeval& time) {
    return std::chrono::seconds{time.tv_sec} + std::chrono::microseconds{time.tv_usec};
  };
  return duration(used.ru_utime) + duration(used.ru_stime);
}

void print(const Json& line) {
  const std::string text = json_text(line) + "\n";
  // A closed standard output is no reason to end; the end of standard input is one.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
  std::fflush(stdout);
}

}  // namespace

Result<std::unique_ptr<Daemon>> Daemon::start(Settings settings,
                                              std::unique_ptr<linux_os::Guard> guard) {
  auto file = TAKT_TRY(read_goals(settings.goals));
  goals::ParsedGoals& parsed = file.parsed;
  auto cores = TAKT_TRY(available_cores(settings.pinned));
  if (guard != nullptr && !guard->can_isolate()) cores.pinnable.emplace();
  std::unique_ptr<Daemon> daemon(
      new Daemon(std::move(settings), std::move(guard), std::move(parsed.goals), std::move(cores)));
  daemon->warnings_ = std::move(parsed.warnings);
  auto monitor = live::Monitor::start(
      {.tracer = daemon->settings_.backend,
       .only_started = daemon->settings_.only_started,
       .goals = daemon->goals_,
       .links = std::move(file.links),
       .only_prompt_delays = daemon->guard_ != nullptr,
       .completed = [made = daemon.get()](auto&&... instance) { made->completed(instance...); }});
  if (!monitor) return tl::unexpected(monitor.error());
  daemon->monitor_ = std::move(*monitor);
  if (const std::string& path = daemon->settings_.log; !path.empty()) {
    auto log = TAKT_TRY(DecisionLog::create(path));
    TAKT_TRY(log.append(header_line(daemon->manager_.options())));
    daemon->log_ = std::move(log);
  }
  if (!daemon->settings_.socket.empty()) {
    auto socket = ControlSocket::listen(
        daemon->settings_.socket,
        [made = daemon.get()](std::string_view request) { return made->answer(request); });
    if (!socket) return tl::unexpected(socket.error());
    daemon->socket_ = std::move(*socket);
  }
  return daemon;
}

Daemon::Daemon(Settings settings, std::unique_ptr<linux_os::Guard> guard, goals::Goals goals,
               budget::Cores cores)
    : settings_(std::move(settings)),
      guard_(std::move(guard)),
      goals_(std::move(goals)),
      cores_(std::move(cores)),
      manager_({.margin = settings_.margin,
                .left = settings_.left,
                .period =
                    settings_.period ? std::optional(Duration{*settings_.period}) : std::nullopt}) {
  if (guard_) enactor_.emplace(*guard_);
  if (settings_.slots > 0) cores_.taken.push_back({.density = settings_.slots});
  for (const std::string& executor : settings_.shaped) {
    doubts_.always({executor, "its chain is shaped: it runs in the slots of its plan"});
  }
  status_.dry_run = settings_.dry_run;
}

std::string Daemon::greeting() const {
  return json_text(Json{{"event", "ready"}, {"environment", monitor_->environment()}}) + "\n";
}

std::string Daemon::run(int signals) {
  std::array<pollfd, 3> events{{{STDIN_FILENO, POLLIN, 0},
                                {signals, POLLIN, 0},
                                {socket_ ? socket_->descriptor() : -1, POLLIN, 0}}};
  say(monitor_->now(), warnings_);
  auto next = Clock::now();
  for (;;) {
    next += look_interval;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now());
    const int found =
        poll(events.data(), events.size(), std::max(0, static_cast<int>(left.count())));
    if (found > 0) {
      if ((events[0].revents | events[1].revents) != 0) break;
      if (events[2].revents != 0) socket_->serve();
    }
    if (guard_ && !guard_->is_alive()) {
      guard_->restore();
      return give_up("the process that restores threads was killed; all threads are as they were");
    }
    next = std::max(next, Clock::now() - look_interval);
    look();
  }
  if (guard_) guard_->restore();
  // The last word knows all that ran, also what came after the last decision.
  say(monitor_->now(), monitor_->poll());
  static_cast<void>(monitor_->refresh());
  status_.decision = last_words_.words();
  explain_newcomers();
  return "";
}

/// A chain that was seen first after the last decision has a reason from before it was seen.
void Daemon::explain_newcomers() {
  for (ChainDecision& chain : status_.decision.chains) {
    const auto& seen = monitor_->model().chains;
    const bool is_seen = std::ranges::find(seen, chain.id, &model::Chain::id) != seen.end();
    if (chain.state != ChainState::unmanaged || !is_seen || decided_on_.contains(chain.id))
      continue;
    chain.reason = "it ran, but was not seen yet when the last decision was taken";
  }
}

std::string Daemon::give_up(std::string reason) {
  std::vector<std::string> lines;
  for (ChainDecision& chain : status_.decision.chains) {
    if (chain.state == ChainState::unmanaged) continue;
    chain = {.id = chain.id, .reason = reason, .goal = chain.goal, .kind = chain.kind};
    lines.push_back(fmt::format("{} is no longer managed: {}", chain.id, reason));
  }
  status_.decision.reservations.clear();
  say(monitor_->now(), lines);
  print({{"event", "failed"}, {"reason", reason}});
  return reason;
}

void Daemon::look() {
  stolen_.read(Instant{Clock::now().time_since_epoch()}, linux_os::stolen_time());
  say(monitor_->now(), monitor_->poll());
  const auto now = Clock::now();
  if (is_due(now)) {
    decided_ = now;
    decide();
  }
}

bool Daemon::is_missed_anew() {
  bool anew = false;
  const auto& decided = status_.decision.chains;
  for (std::size_t c = 0; c < monitor_->chains().size(); ++c) {
    const std::string& id = monitor_->model().chains[c].id;
    const std::uint64_t missed = monitor_->chains()[c].missed();
    const bool is_more = missed > std::exchange(missed_[id], missed);
    const auto chain = std::ranges::find(decided, id, &ChainDecision::id);
    const bool is_degraded = chain != decided.end() && chain->state == ChainState::degraded;
    anew = anew || (is_more && !is_degraded);
  }
  return anew;
}

bool Daemon::is_due(Clock::time_point now) {
  // Start-up is no steady state; but programs may start again and again.
  if (!monitor_->database().steady_since() && now - started_ < longest_start_up) return false;
  if (decided_ != Clock::time_point{} && now - decided_ < settle_interval) return false;
  const std::uint64_t structure = monitor_->structure();
  const bool is_missed = is_missed_anew();
  const bool changed = structure != structure_ || is_missed;
  structure_ = structure;
  is_urgent_ = is_urgent_ || asked_ || changed;
  asked_ = false;
  own_budget_.account(Instant{now.time_since_epoch()}, used_time());
  const bool is_due = is_urgent_ || now - decided_ >= goals_.period;
  const auto longest = is_urgent_ ? longest_urgent_interval : longest_interval;
  const bool is_paid = own_budget_.affords(is_urgent_) || now - decided_ >= longest;
  if (is_due && is_paid) is_urgent_ = false;
  return is_due && is_paid;
}

void Daemon::decide() {
  const Duration begin = linux_os::thread_cpu_time();
  if (manager_.lacks_room() && decided_ - forgot_ >= goals_.period) {
    monitor_->forget();
    forgot_ = decided_;
  }
  if (!monitor_->refresh()) return;
  const Duration refreshed = linux_os::thread_cpu_time() - begin;
  is_missed_anew();
  say(monitor_->now(), promises_.explain(monitor_->model(), monitor_->now()));
  std::set<std::string> reserved;
  for (const auto& r : status_.decision.reservations) reserved.insert(r.executor);
  Situation situation =
      situation_of(*monitor_, doubts_.next(monitor_->model().executors, monitor_->unseen()), cores_,
                   !enactor_, reserved);
  situation.crowded = crowded_ > 0;
  crowded_ = std::max(crowded_ - 1, 0);
  situation.estimators = estimators_.of(goals_);
  situation.broken = promises_.withdrawn();
  Decision decision = manager_.decide(situation);
  tell(situation, decision);
  if (enactor_) {
    const auto refused = enactor_->enact(decision, threads_of(*monitor_));
    if (!refused.empty()) {
      // The next decision must not count on what the kernel refused.
      if (!enactor_->can_pin() && !cores_.pinned().empty()) {
        cores_.pinnable.emplace();  // there may be a plan that needs no cores
        situation.cores = cores_;
      } else if (!situation.crowded) {
        crowded_ = crowded_lasts;  // budgets as small as possible may fit
        situation.crowded = true;
      } else {
        doubts_.refused(refused);
        situation.doubts = doubts_.present();
      }
      decision = manager_.decide(situation);
      tell(situation, decision);
      doubts_.refused(enactor_->enact(decision, threads_of(*monitor_)));
    }
    if (const auto& pending = enactor_->pending(); !pending.empty()) {
      situation.unproved.insert(situation.unproved.end(), pending.begin(), pending.end());
      decision = manager_.decide(situation);
      tell(situation, decision);
    }
    monitor_->set_prompt(enactor_->reserved());
    promises_.enacted(decision, monitor_->model(), Instant{Clock::now().time_since_epoch()});
    ask_estimators(decision);
  }
  // Decides again soon, so that prepared chains become guaranteed as soon as they can.
  asked_ = asked_ || std::ranges::any_of(decision.chains, [&](const ChainDecision& chain) {
             return chain.state == ChainState::prepared &&
                    std::ranges::find(situation.broken, chain.id, &BrokenPromise::chain) ==
                        situation.broken.end();
           });
  std::set<std::string> ended;
  const auto threads = monitor_->threads();
  for (std::size_t e = 0; e < threads.size(); ++e) {
    if (threads[e].ended) ended.insert(monitor_->model().executors[e].id);
  }
  last_words_.decided(decision, ended);
  decided_on_.clear();
  for (const model::Chain& chain : monitor_->model().chains) decided_on_.insert(chain.id);
  status_.decision = std::move(decision);
  status_.advice = manager_.advice();
  status_.up = true;
  const Duration used = linux_os::thread_cpu_time() - begin;
  own_budget_.decided(used);
  status_.planning_seconds = seconds(used);
  status_.planning_seconds_total += seconds(used);
  status_.modelling_seconds_total += seconds(refreshed);
}

/// A breach withdraws the promise now; the next decision follows soon, and knows more.
void Daemon::completed(const std::string& chain, Instant activation, Instant completion) {
  const auto runs = [this](const std::string& executor, Instant after) {
    return runs_of(*monitor_, executor, after);
  };
  const auto breach = promises_.completed(chain, activation, completion, stolen_, runs);
  if (!breach) return;
  asked_ = true;
  const std::string reason = describe(*breach);
  status_.decision.withdraw(chain, reason);
  last_words_.broke(chain, reason);
}

void Daemon::say(Instant time, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  for (const std::string& line : lines) {
    status_.changes.emplace_back(time, line);
    if (status_.changes.size() > Status::most_changes) status_.changes.pop_front();
  }
  print({{"event", "changes"}, {"changes", lines}});
}

void Daemon::tell(const Situation& situation, const Decision& decision) {
  ++status_.decisions;
  say(decision.time, decision.changes);
  if (!log_) return;
  const auto logged = log_->append(entry_line(situation, decision, promises_.accounts()));
  if (!logged) say(decision.time, {logged.error().message + "; no more decisions are logged"});
  status_.unlogged = log_->missing();
}

/// The reader of standard output asks them, and sends the answers to the socket.
void Daemon::ask_estimators(const Decision& decision) {
  for (const std::string& node : estimators_.due(decision, Clock::now(), goals_.period)) {
    print({{"event", "ask"}, {"estimator", node}});
  }
}

std::string Daemon::hear(std::string_view answer) {
  const auto is_new = estimators_.answered(answer);
  if (!is_new) return json_text(Json{{"error", is_new.error().message}}) + "\n";
  asked_ = asked_ || *is_new;
  return json_text(Json{{"heard", true}}) + "\n";
}

std::string Daemon::status_line() {
  status_.cpu_seconds = seconds(used_time());
  status_.running_seconds = std::chrono::duration<double>(Clock::now() - started_).count();
  return json_text(to_json(status_, promises_, *monitor_)) + "\n";
}

std::string Daemon::reload() {
  auto file = read_goals(settings_.goals);
  if (!file) return json_text(Json{{"error", file.error().message}}) + "\n";
  say(monitor_->now(), file->parsed.warnings);
  goals_ = std::move(file->parsed.goals);
  monitor_->set_goals(goals_, std::move(file->links));
  asked_ = true;
  return json_text(Json{{"reloaded", goals_.chains.size()}}) + "\n";
}

std::string Daemon::answer(std::string_view request) {
  if (request == "status") return status_line();
  if (request == "reload") return reload();
  if (request == "ending") {
    monitor_->expect_end();
    return json_text(Json{{"heard", true}}) + "\n";
  }
  if (constexpr std::string_view word = "estimator "; request.starts_with(word)) {
    return hear(request.substr(word.size()));
  }
  if (request.starts_with("GET /metrics")) {
    static_cast<void>(status_line());  // brings the figures up to date
    const std::string body = metrics(status_, promises_, *monitor_);
    return fmt::format(
        "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: "
        "{}\r\n\r\n{}",
        body.size(), body);
  }
  return json_text(
             Json{{"error",
                   "unknown request; one of status, reload, ending, estimator, GET /metrics"}}) +
         "\n";
}

}  // namespace takt::manager
