#include "takt/oracle/crate_oracle.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cassert>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "takt/model/order.hpp"

namespace takt::oracle {

namespace {

using model::CallbackIndex;
using model::Model;

/// The crate's caller wants callbacks in the order of priority: how they are numbered there.
struct Numbering {
  std::vector<CallbackIndex> order;
  std::vector<std::size_t> number;
};

Numbering number_callbacks(const Model& model) {
  Numbering result;
  result.number.resize(model.callbacks.size());
  for (const auto& callbacks : model::callbacks_by_executor(model)) {
    for (const CallbackIndex callback : callbacks) {
      result.number[callback.value()] = result.order.size();
      result.order.push_back(callback);
    }
  }
  return result;
}

std::vector<std::int64_t> counts(const std::vector<Duration>& durations) {
  std::vector<std::int64_t> result;
  for (const Duration duration : durations) result.push_back(duration.count());
  return result;
}

std::string_view kind_of(const Model& model, const model::Callback& callback) {
  if (callback.kind == model::CallbackKind::event_source) return "source";
  const bool privileged = callback.kind == model::CallbackKind::timer &&
                          model[callback.executor].timers == TimerHandling::privileged;
  return privileged ? "privileged" : "polled";
}

std::string activation_statement(const model::Activation& activation, std::size_t number) {
  if (const auto* periodic = std::get_if<model::PeriodicActivation>(&activation)) {
    return fmt::format("periodic {} {} {}\n", number, periodic->period.count(),
                       periodic->jitter.count());
  }
  if (const auto* sporadic = std::get_if<model::SporadicActivation>(&activation)) {
    return fmt::format("periodic {} {} {}\n", number, sporadic->min_separation.count(),
                       sporadic->jitter.count());
  }
  auto distances = counts(std::get<model::MinDistanceActivation>(activation).values);
  distances.erase(distances.begin());
  return fmt::format("distance {} {}\n", number, fmt::join(distances, " "));
}

/// The statements of a system, see crate/src/main.rs.
std::string statements(const Model& model, const Numbering& numbering) {
  assert(model.joins.empty());
  std::string text;
  for (const model::Executor& executor : model.executors) {
    assert(executor.overhead.empty());
    const auto* reservation = std::get_if<model::ReservationSupply>(&executor.supply);
    text += reservation == nullptr
                ? "executor 1 1 1\n"
                : fmt::format("executor {} {} {}\n", reservation->budget.count(),
                              reservation->period.count(), reservation->deadline.count());
  }
  for (const CallbackIndex index : numbering.order) {
    const model::Callback& callback = model[index];
    text += fmt::format("callback {} {} {}\n", callback.executor.value(), kind_of(model, callback),
                        fmt::join(counts(callback.execution_time), " "));
    if (callback.activation) {
      text += activation_statement(*callback.activation, numbering.number[index.value()]);
    }
  }
  const auto number = [&](CallbackIndex index) { return numbering.number[index.value()]; };
  const auto numbers = [&](const std::vector<CallbackIndex>& indices) {
    std::vector<std::size_t> result;
    for (const CallbackIndex index : indices) result.push_back(number(index));
    return result;
  };
  for (const model::Edge& edge : model.edges) {
    if (model::samples_messages(model[edge.to])) continue;
    const std::string triggers =
        edge.triggered_by ? fmt::format("{}", fmt::join(numbers(*edge.triggered_by), " ")) : "*";
    text += fmt::format("edge {} {} {} {}\n", number(edge.from), number(edge.to),
                        edge.delay.count(), triggers);
  }
  for (const model::Chain& chain : model.chains) {
    text += fmt::format("chain {}\n", fmt::join(numbers(chain.callbacks), " "));
  }
  return text;
}

std::string statements(const Question& question) {
  return fmt::format("limit {}\n{}analyse {} {} {}\nend\n", question.options.horizon.count(),
                     statements(*question.model, number_callbacks(*question.model)),
                     analysis::to_string(question.options.method),
                     question.polling_points == PollingPoints::definition ? "definition" : "crate",
                     question.repetitions);
}

std::optional<Duration> bound(const std::string& word) {
  if (word == "-") return std::nullopt;
  return Duration{std::stoll(word)};
}

Answer parse(const std::string& line, const Model& model) {
  const Numbering numbering = number_callbacks(model);
  std::istringstream words(line);
  Answer answer;
  std::int64_t elapsed = 0;
  std::int64_t last_round = 0;
  std::string word;
  words >> elapsed >> last_round >> word;
  answer.elapsed = Duration{elapsed};
  answer.last_round = Duration{last_round};
  answer.callbacks.resize(model.callbacks.size());
  for (const CallbackIndex callback : numbering.order) {
    words >> word;
    answer.callbacks[callback.value()] = bound(word);
  }
  words >> word;
  while (words >> word) answer.chains.push_back(bound(word));
  assert(answer.chains.size() == model.chains.size());
  return answer;
}

}  // namespace

std::optional<std::vector<Answer>> ask_crate(std::span<const Question> questions) {
  namespace fs = std::filesystem;
  if (!fs::exists(TAKT_CRATE_ORACLE)) return std::nullopt;
  const fs::path base = fs::temp_directory_path() / fmt::format("takt-oracle-{}", ::getpid());
  const fs::path input = base.string() + ".in";
  const fs::path output = base.string() + ".out";
  {
    std::ofstream file(input);
    for (const Question& question : questions) file << statements(question);
  }
  const std::string command =
      fmt::format("'{}' < '{}' > '{}'", TAKT_CRATE_ORACLE, input.string(), output.string());
  const int status = std::system(command.c_str());  // NOLINT(cert-env33-c): a command of ours
  std::vector<Answer> answers;
  if (status == 0) {
    std::ifstream file(output);
    std::string line;
    for (const Question& question : questions) {
      std::getline(file, line);
      answers.push_back(parse(line, *question.model));
    }
  }
  fs::remove(input);
  fs::remove(output);
  assert(status == 0 && "the oracle has failed");
  return answers;
}

}  // namespace takt::oracle
