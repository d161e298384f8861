// takt-workload: one process of a running timing model. People use `takt run`, which starts one of
// these for each process of the model and speaks with it:
//
//   takt-workload plan MODEL [--executor KIND]                  the plan, as JSON
//   takt-workload run PROCESS MODEL [--priority N] [--log] [--executor KIND]
//                                                               one of the plan's processes
//
// A running process writes one JSON object per line: {"event": "connected"} when it has found all
// the others; then, each in answer to a line on its standard input, {"event": "started", …} to
// "start",
// {"event": "counts", …} to "counts", {"event": "scaled", …} to "scale PERCENT CALLBACK" (all
// instances from now on take this much of what the model says), {"event": "stopped"} to "stop",
// {"event": "log", …} to "log": what its nodes handled and sent, with --log. "quit", the end of the
// input, SIGINT or SIGTERM end it. Errors are one line on standard error and exit status 2.

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "process.hpp"
#include "takt/base/try.hpp"
#include "takt/linux/ending.hpp"
#include "takt/model/json.hpp"
#include "takt/model/names.hpp"
#include "takt/policy/describe.hpp"
#include "takt/workload/plan.hpp"
#include "takt/workload/plan_json.hpp"

namespace takt::workload {
namespace {

using nlohmann::json;

/// The longest execution time of a callback in a surge, in percent of the modelled one.
constexpr int most_percent = 100'000;

void say(const json& line) {
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

Result<model::Model> read_model(const std::string& path) {
  constexpr std::size_t most = std::size_t{256} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> buffer{};
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > most) return error("{}: larger than 256 MiB; is it a timing model?", path);
  }
  if (!file.eof()) return error("{}: cannot be read; is it a file?", path);
  auto parsed = TAKT_TRY(model::parse(text, path));
  return std::move(parsed.model);
}

Result<void> replace_executors(model::Model& model, const std::string& name) {
  const auto kind = model::from_string<model::ExecutorKind>(name);
  if (!kind || has(*kind, model::ExecutorTrait::outside_ros)) {
    return error("--executor {}: no such kind of executor; one of {}", name,
                 model::all_names<model::ExecutorKind>());
  }
  for (model::Executor& executor : model.executors) {
    if (!has(executor.kind, model::ExecutorTrait::outside_ros)) executor.kind = *kind;
  }
  return {};
}

/// Returns warnings about policies that the executors cannot follow. Error: an executor has no
/// policy at all.
Result<std::vector<std::string>> check_executors(const model::Model& model) {
  std::vector<std::string> warnings;
  policy::Describer describer(model);
  for (std::size_t i = 0; i < model.executors.size(); ++i) {
    const auto described = TAKT_TRY(describer.describe(model::ExecutorIndex(i)));
    std::ranges::copy(described.warnings, std::back_inserter(warnings));
  }
  return warnings;
}

/// Lines of standard input, and signals that ask for the end.
class Commands {
 public:
  /// Before any thread is made, see linux_os::ending_signals().
  Commands() : signals_(linux_os::ending_signals()) {}
  ~Commands() { close(signals_); }
  Commands(const Commands&) = delete;
  Commands& operator=(const Commands&) = delete;

  /// The next command; "" if there is none for `milliseconds`, "quit" at the end of the input.
  std::string next(int milliseconds) {
    while (true) {
      if (const std::size_t end = input_.find('\n'); end != std::string::npos) {
        std::string line = input_.substr(0, end);
        input_.erase(0, end + 1);
        return line;
      }
      std::array<pollfd, 2> sources{{{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0},
                                     {.fd = signals_, .events = POLLIN, .revents = 0}}};
      if (poll(sources.data(), sources.size(), milliseconds) <= 0) return "";
      if (sources[1].revents != 0) return "quit";
      std::array<char, 256> buffer{};
      const ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
      if (got <= 0) return "quit";
      input_.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  int signals_ = -1;
  std::string input_;
};

json supplies_to_json(const std::vector<Process::Supply>& supplies) {
  json result = json::array();
  for (const Process::Supply& supply : supplies) {
    result.push_back({{"id", supply.executor},
                      {"refusal", supply.refusal.empty() ? json() : json(supply.refusal)}});
  }
  return result;
}

json counts_to_json(const std::vector<Process::Count>& counts) {
  json result = json::array();
  for (const auto& [callback, work] : counts) {
    result.push_back({{"id", callback},
                      {"count", work.instances},
                      {"overruns", work.overruns},
                      {"longest", work.longest.count()}});
  }
  return result;
}

/// Obeys "PERCENT CALLBACK". False: the process has no such callback.
Result<bool> scale(Process& process, std::string_view what) {
  int percent = 0;
  const auto [end, fault] = std::from_chars(what.data(), what.data() + what.size(), percent);
  const std::string_view callback = what.substr(static_cast<std::size_t>(end - what.data()));
  if (fault != std::errc{} || percent < 0 || percent > most_percent || !callback.starts_with(' ')) {
    return error("scale {}: a percentage of 0 to {} and a callback are wanted", what, most_percent);
  }
  return process.scale(callback.substr(1), percent);
}

Result<void> obey(Commands& commands, Process& process, const MessageLog& message_log) {
  constexpr int poll_milliseconds = 20;
  bool connected = false;
  while (true) {
    TAKT_TRY(process.failure());
    if (!connected) {
      connected = TAKT_TRY(process.is_connected());
      if (connected) say({{"event", "connected"}});
    }
    const std::string command = commands.next(poll_milliseconds);
    if (command == "start") {
      const auto supplies = TAKT_TRY(process.start());
      say({{"event", "started"}, {"executors", supplies_to_json(supplies)}});
    } else if (command == "counts") {
      say({{"event", "counts"}, {"callbacks", counts_to_json(process.counts())}});
    } else if (command.starts_with("scale ")) {
      const auto scaled = TAKT_TRY(scale(process, std::string_view(command).substr(6)));
      say({{"event", "scaled"}, {"known", scaled}});
    } else if (command == "stop") {
      TAKT_TRY(process.stop());
      say({{"event", "stopped"}});
    } else if (command == "log") {
      say({{"event", "log"}, {"entries", message_log.to_json()}});
    } else if (command == "quit") {
      process.quit();
      return process.failure();
    } else if (!command.empty()) {
      return error("unknown command \"{}\"; one of start, counts, scale, stop, log, quit", command);
    }
  }
}

Result<void> run(const model::Model& model, const WorkloadPlan& plan, const std::string& name,
                 bool log, std::optional<int> priority) {
  const WorkloadProcess* planned = plan.process(name);
  if (planned == nullptr) return error("model {} has no process \"{}\"", model.name, name);
  Commands commands;
  MessageLog message_log(model);
  auto process =
      TAKT_TRY(Process::create(model, plan, *planned, log ? &message_log : nullptr, priority));
  return obey(commands, *process, message_log);
}

constexpr const char* usage =
    "usage: takt-workload plan MODEL [--executor KIND] | "
    "takt-workload run PROCESS MODEL [--priority N] [--log] [--executor KIND]";

/// Takes an option and its value from the end; none: it is not there.
std::optional<std::string> pop_option(std::vector<std::string>& arguments, std::string_view name) {
  if (arguments.size() < 2 || arguments[arguments.size() - 2] != name) return std::nullopt;
  std::string value = std::move(arguments.back());
  arguments.resize(arguments.size() - 2);
  return value;
}

Result<int> parse_priority(std::string_view text) {
  constexpr int highest = 99;
  int priority = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), priority);
  if (fault != std::errc{} || end != text.data() + text.size() || priority < 1 ||
      priority > highest) {
    return error("--priority {}: must be 1 to {}", text, highest);
  }
  return priority;
}

Result<void> main(std::vector<std::string> arguments) {
  const std::string kind = pop_option(arguments, "--executor").value_or("");
  const bool log = !arguments.empty() && arguments.back() == "--log";
  if (log) arguments.pop_back();
  std::optional<int> priority;
  if (const auto text = pop_option(arguments, "--priority")) {
    priority = TAKT_TRY(parse_priority(*text));
  }
  const bool plan_only = arguments.size() == 2 && arguments[0] == "plan";
  if (!plan_only && !(arguments.size() == 3 && arguments[0] == "run")) return error("{}", usage);
  auto model = TAKT_TRY(read_model(arguments.back()));
  if (!kind.empty()) {
    TAKT_TRY(replace_executors(model, kind));
  }
  const auto with_source = [&](const Error& failure) {
    return error("{}: {}", arguments.back(), failure.message);
  };
  const auto warnings = check_executors(model);
  if (!warnings) return with_source(warnings.error());
  const auto plan = plan_workload(model);
  if (!plan) return with_source(plan.error());
  if (!plan_only) return run(model, *plan, arguments[1], log, priority);
  fmt::print("{}\n", plan_to_json(model, *plan, *warnings));
  return {};
}

}  // namespace
}  // namespace takt::workload

int main(int argc, char** argv) {
  const takt::Result<void> result =
      takt::workload::main(std::vector<std::string>(argv + 1, argv + argc));
  if (result) return 0;
  fmt::print(stderr, "takt-workload: {}\n", result.error().message);
  return 2;
}
