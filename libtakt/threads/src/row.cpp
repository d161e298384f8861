#include "takt/threads/row.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "takt/execution/names.hpp"
#include "takt/linux/admission.hpp"
#include "takt/linux/affinity.hpp"
#include "takt/model/object_reader.hpp"
#include "takt/yaml/names.hpp"
#include "takt/yaml/quantities.hpp"
#include "takt/yaml/read_yaml.hpp"

namespace takt::threads {

namespace {

using linux_os::DeadlineScheduling;
using linux_os::FifoScheduling;
using linux_os::RoundRobinScheduling;
using model::Findings;
using model::ObjectReader;
using nlohmann::json;

/// The longest name of a node in ROS 2.
constexpr std::size_t longest_name = 255;
/// The least that the kernel reserves (sched(7)).
constexpr Duration least_runtime{1024};

/// A whole number without a sign; none if the text is anything else.
std::optional<int> number(std::string_view text) {
  int value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = fault == std::errc{} && end == text.data() + text.size();
  return whole && value >= 0 && !text.starts_with('-') ? std::optional(value) : std::nullopt;
}

/// The parts of a text between separators; one part if there are none.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    std::string_view part = text.substr(0, end);
    while (part.starts_with(' ')) part.remove_prefix(1);
    while (part.ends_with(' ')) part.remove_suffix(1);
    parts.push_back(part);
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

/// "0-3,6" for numbers in ascending order.
std::string ranges(const std::vector<int>& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (last > i) text += fmt::format("-{}", numbers[last]);
    i = last + 1;
  }
  return text;
}

class RowsReader {
 public:
  RowsReader(Findings& findings, const std::vector<int>& processors)
      : findings_(findings), processors_(processors) {}

  std::vector<Row> read(const json& document) {
    ObjectReader object(document, "", findings_);
    refuse_others(object, {"format", "version", "threads"});
    const std::string format = object.required_text("format", "write 'format: takt/threads'");
    if (findings_.fault.empty() && format != "takt/threads") {
      findings_.fail("format: must be takt/threads, is \"{}\"", format);
    }
    if (const auto version = object.optional_text("version"); version && *version != "1") {
      findings_.fail("version: is \"{}\"; this version of Takt reads 1", *version);
    }
    std::vector<Row> rows;
    if (const json* list = object.required("threads", "list how threads are to be scheduled")) {
      object.for_each(*list, "threads", [&](const json& element, const std::string& path) {
        ObjectReader row(element, path, findings_);
        if (findings_.fault.empty()) rows.push_back(read_row(row));
      });
      if (list->is_array() && list->empty()) findings_.fail("threads: lists no row");
    }
    return rows;
  }

 private:
  Row read_row(ObjectReader& object) {
    Row row;
    refuse_others(object, {"node", "group", "executor", "middleware", "policy", "priority",
                           "reservation", "cores"});
    read_subject(object, row);
    const auto policy = object.required_text("policy", "one of deadline, fifo, rr and other");
    const auto priority = object.optional_text("priority");
    const auto reservation = object.optional_text("reservation");
    const bool has_priority = policy == "fifo" || policy == "rr";
    if (policy != "deadline" && policy != "other" && !has_priority) {
      findings_.fail("{}: \"{}\" is none of deadline, fifo, rr and other", object.path_of("policy"),
                     policy);
    }
    if (priority && !has_priority) {
      findings_.fail("{}: only fifo and rr have priorities; remove it, or change the policy",
                     object.path_of("priority"));
    }
    if (reservation && policy != "deadline") {
      findings_.fail("{}: only the policy deadline has one; remove it, or change the policy",
                     object.path_of("reservation"));
    }
    if (policy == "deadline") row.scheduling = read_reservation(object, reservation);
    if (has_priority) {
      const int value = read_priority(object, priority);
      if (policy == "fifo") row.scheduling = FifoScheduling{.priority = value};
      if (policy == "rr") row.scheduling = RoundRobinScheduling{.priority = value};
    }
    read_cores(object, row);
    return row;
  }

  void read_subject(ObjectReader& object, Row& row) {
    const auto node = object.optional_text("node");
    const auto executor = object.optional_text("executor");
    const auto middleware = object.optional_text("middleware");
    const auto group = object.optional_text("group");
    if (int{node.has_value()} + int{executor.has_value()} + int{middleware.has_value()} != 1) {
      findings_.fail("{}: name one of node, executor and middleware", object.path());
      return;
    }
    if (group && !node) {
      findings_.fail("{}: a group belongs to a node; write it beside 'node: NAME'",
                     object.path_of("group"));
    }
    if (group && group->empty()) findings_.fail("{}: is empty", object.path_of("group"));
    row.subject = executor     ? Subject::executor
                  : middleware ? Subject::middleware
                  : group      ? Subject::group
                               : Subject::node;
    row.node = executor ? *executor : middleware ? *middleware : *node;
    row.group = group.value_or("");
    const auto name = yaml::parse_node(row.node);
    if (!name) findings_.fail("{}: \"{}\" is no name of a node", object.path(), row.node);
    if (!findings_.fault.empty()) return;
    row.node = *name;
    const auto [first, is_new] = subjects_.try_emplace(subject_of(row), object.path());
    if (!is_new) {
      findings_.fail("{}: {} is the subject of {} too; keep one of them", object.path(),
                     subject_of(row), first->second);
    }
  }

  int read_priority(ObjectReader& object, const std::optional<std::string>& text) {
    const auto value = number(text.value_or(""));
    if (value && *value >= 1 && *value <= 99) return *value;
    findings_.fail("{}: \"{}\" is no priority; write a number from 1 to 99",
                   object.path_of("priority"), text.value_or(""));
    return 1;
  }

  DeadlineScheduling read_reservation(ObjectReader& object,
                                      const std::optional<std::string>& text) {
    const std::string path = object.path_of("reservation");
    const std::string written = text.value_or("");
    const auto parts = split(written, '/');
    std::vector<Duration> times;
    for (const std::string_view part : parts) {
      if (const auto time = yaml::parse_time(part)) times.push_back(*time);
    }
    if (times.size() != parts.size() || times.size() < 2 || times.size() > 3) {
      findings_.fail(
          "{}: \"{}\" is no reservation; write 3ms/5ms for 3 ms in every 5 ms, or 3ms/4ms/5ms for "
          "3 "
          "ms within 4 ms in every 5 ms",
          path, written);
      return {};
    }
    const DeadlineScheduling found{times[0], times[1], times.back()};
    if (found.runtime < least_runtime || found.runtime > found.deadline ||
        found.deadline > found.period) {
      findings_.fail("{}: \"{}\": must be 1024 ns <= budget <= deadline <= period", path, written);
    }
    reservations_.push_back(found);
    const int count = static_cast<int>(processors_.size());
    if (const auto admitted = linux_os::check_kernel_admission(reservations_, count); !admitted) {
      findings_.fail("{}: {}", path, admitted.error().message);
    }
    return found;
  }

  void read_cores(ObjectReader& object, Row& row) {
    const auto text = object.optional_text("cores");
    if (!text) return;
    const std::string path = object.path_of("cores");
    std::set<int> cores;
    for (const std::string_view part : split(*text, ',')) {
      const auto ends = split(part, '-');
      const auto first = number(ends.front());
      const auto last = number(ends.back());
      if (!first || !last || ends.size() > 2 || *first > *last ||
          *last >= linux_os::processor_limit) {
        findings_.fail("{}: \"{}\" is no list of cores; write 2-3 or 0,2-3", path, *text);
        return;
      }
      for (int core = *first; core <= *last; ++core) cores.insert(core);
    }
    for (const int core : cores) {
      if (std::ranges::count(processors_, core) != 0) continue;
      findings_.fail("{}: there is no core {} for this process; it may use {}", path, core,
                     ranges(processors_));
    }
    row.cores.assign(cores.begin(), cores.end());
  }

  /// A field that is spelled wrongly would leave threads as they are.
  void refuse_others(ObjectReader& object, std::initializer_list<std::string_view> known) {
    for (const std::string_view field : known) object.optional(field);
    object.warn_of_unknown();
    if (findings_.warnings.empty()) return;
    findings_.fail("{}; known are {}", findings_.warnings.front(), fmt::join(known, ", "));
  }

  Findings& findings_;
  const std::vector<int>& processors_;
  std::map<std::string, std::string> subjects_;
  std::vector<DeadlineScheduling> reservations_;
};

}  // namespace

std::string subject_of(const Row& row) {
  switch (row.subject) {
    case Subject::group:
      return fmt::format("group {} of {}", row.group, row.node);
    case Subject::executor:
      return fmt::format("executor of {}", row.node);
    case Subject::middleware:
      return fmt::format("middleware of {}", row.node);
    case Subject::node:
      break;
  }
  return fmt::format("node {}", row.node);
}

std::string settings_of(const Row& row) {
  std::string text = linux_os::policy_name(row.scheduling);
  if (const auto* fifo = std::get_if<FifoScheduling>(&row.scheduling)) {
    text += fmt::format(" {}", fifo->priority);
  } else if (const auto* rr = std::get_if<RoundRobinScheduling>(&row.scheduling)) {
    text += fmt::format(" {}", rr->priority);
  } else if (const auto* deadline = std::get_if<DeadlineScheduling>(&row.scheduling)) {
    text += " " + execution::compact_duration(deadline->runtime) + "/";
    if (deadline->deadline != deadline->period)
      text += execution::compact_duration(deadline->deadline) + "/";
    text += execution::compact_duration(deadline->period);
  }
  if (!row.cores.empty()) text += " on " + ranges(row.cores);
  return text;
}

Result<std::vector<Row>> parse(std::string_view text, std::string_view source,
                               const std::vector<int>& processors) {
  const Result<json> document = yaml::read_yaml(text, "a list of threads");
  if (!document) return error("{}: {}", source, document.error().message);
  Findings findings;
  std::vector<Row> rows = RowsReader(findings, processors).read(*document);
  if (!findings.fault.empty()) return error("{}: {}", source, findings.fault);
  return rows;
}

}  // namespace takt::threads
