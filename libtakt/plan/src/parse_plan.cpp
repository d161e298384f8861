#include <algorithm>
#include <array>
#include <fstream>
#include <unordered_map>
#include <unordered_set>

#include "takt/base/try.hpp"
#include "takt/curves/saturating.hpp"
#include "takt/model/limits.hpp"
#include "takt/model/names.hpp"
#include "takt/model/object_reader.hpp"
#include "takt/model/parse_document.hpp"
#include "takt/plan/plan.hpp"
#include "takt/policy/describe.hpp"

namespace takt::plan {

namespace {

using model::Findings;
using model::ObjectReader;
using nlohmann::json;
using scheduling::PolicyDescription;
using Local = scheduling::LocalIndex;

class PlanReader {
 public:
  explicit PlanReader(Findings& findings) : findings_(findings) {}

  Plan read(const json& document) {
    ObjectReader object(document, "", findings_);
    Plan plan;
    if (object.required_text("format", "takt/plan") != "takt/plan") {
      findings_.fail("format: must be \"takt/plan\"; make one with `takt plan MODEL -o plan.json`");
    }
    if (object.required("version", "1") != nullptr && object.integer("version") != 1) {
      findings_.fail("version: this Takt reads version 1 only");
    }
    plan.name = object.text("name");
    if (const json* provenance = object.optional("provenance")) {
      if (!provenance->is_object()) findings_.fail("provenance: must be an object");
      plan.provenance = provenance->dump();
    }
    read_list(object, "executors", true,
              [&](ObjectReader& executor) { plan.executors.push_back(read_executor(executor)); });
    if (const json* warnings = object.optional("warnings")) {
      object.for_each(*warnings, "warnings", [&](const json& warning, const std::string& path) {
        plan.warnings.push_back(object.read_text(warning, path));
      });
    }
    object.warn_of_unknown();
    return plan;
  }

 private:
  template <typename Read>
  void read_list(ObjectReader& owner, std::string_view name, bool is_required, Read read_one) {
    const json* list = is_required ? owner.required(name, "a list") : owner.optional(name);
    if (list == nullptr) return;
    owner.for_each(*list, owner.path_of(name), [&](const json& element, const std::string& path) {
      ObjectReader object(element, path, findings_);
      if (!findings_.fault.empty()) return;
      read_one(object);
      object.warn_of_unknown();
    });
  }

  Duration positive(ObjectReader& object, std::string_view name, Duration value) {
    if (value <= Duration{0} || value > PolicyDescription::longest_deadline) {
      findings_.fail("{}: {} ns is not above 0 and at most 100 years", object.path_of(name),
                     value.count());
    }
    return value;
  }

  ExecutorPlan read_executor(ObjectReader& object) {
    ExecutorPlan executor;
    executor.id = object.required_text("id", "a unique name");
    if (!executors_.insert(executor.id).second) {
      findings_.fail("{}: \"{}\" is the id of another executor", object.path_of("id"), executor.id);
    }
    executor.kind = object.kind("kind", executor.kind);
    executor.policy.rule = read_rule(object);
    executor.threads = object.integer("threads").value_or(1);
    if (executor.threads < 1 || executor.threads > model::most_threads) {
      findings_.fail("{}: must be between 1 and {}", object.path_of("threads"),
                     model::most_threads);
    }
    executor.cpu = object.integer("cpu");
    if (executor.cpu && (*executor.cpu < 0 || *executor.cpu > model::most_cpu)) {
      findings_.fail("{}: must be between 0 and {}", object.path_of("cpu"), model::most_cpu);
    }
    executor.supply = read_supply(object);
    executor.policy.timers = object.kind("timers", TimerHandling::polled);
    executor.policy.own_origin = object.boolean("own_origin").value_or(false);
    local_.clear();
    read_list(object, "callbacks", true,
              [&](ObjectReader& callback) { read_callback(callback, executor); });
    read_list(object, "chains", false,
              [&](ObjectReader& chain) { read_chain(chain, executor.policy); });
    check_chains(object, executor.policy);
    if (const json* table = object.optional("table")) {
      ObjectReader reader(*table, object.path_of("table"), findings_);
      read_table(reader, executor.policy);
      reader.warn_of_unknown();
    } else if (executor.policy.rule == scheduling::Rule::table) {
      findings_.fail("{}: missing; the slots that the rule goes by", object.path_of("table"));
    }
    if (findings_.fault.empty() && executor.threads > 1 &&
        !scheduling::make_policy(executor.policy, 0)->is_sharable()) {
      findings_.fail("{}: {} decides for one thread", object.path_of("threads"),
                     to_string(executor.policy.rule));
    }
    return executor;
  }

  scheduling::Rule read_rule(ObjectReader& object) {
    const std::string name = object.required_text("rule", "what decides");
    if (const auto rule = scheduling::rule_from_string(name)) return *rule;
    findings_.fail("{}: \"{}\" is none of {}", object.path_of("rule"), name,
                   scheduling::rule_names());
    return scheduling::Rule::first_released;
  }

  model::Supply read_supply(ObjectReader& owner) {
    const json* member = owner.optional("supply");
    if (member == nullptr) return model::DedicatedSupply{};
    ObjectReader object(*member, owner.path_of("supply"), findings_);
    const std::string kind =
        object.required_text("kind", "dedicated, reservation or fixed_priority");
    model::Supply supply;
    if (kind == "reservation") {
      supply = read_reservation(object);
    } else if (kind == "fixed_priority") {
      supply = read_fixed_priority(object);
    } else if (kind != "dedicated") {
      findings_.fail("{}: \"{}\" is none of dedicated, reservation, fixed_priority",
                     object.path_of("kind"), kind);
    }
    object.warn_of_unknown();
    return supply;
  }

  model::FixedPrioritySupply read_fixed_priority(ObjectReader& object) {
    const std::int64_t priority = object.integer("priority").value_or(0);
    if (priority < 1 || priority > model::most_thread_priority) {
      findings_.fail("{}: must be between 1 and {}", object.path_of("priority"),
                     model::most_thread_priority);
    }
    return {.priority = priority};
  }

  model::ReservationSupply read_reservation(ObjectReader& object) {
    model::ReservationSupply supply;
    supply.budget = positive(object, "budget", object.required_time("budget", "runtime"));
    supply.period = positive(object, "period", object.required_time("period", "how often"));
    supply.deadline = object.time("deadline").value_or(supply.period);
    if (supply.budget > supply.deadline || supply.deadline > supply.period) {
      findings_.fail("{}: a reservation needs budget <= deadline <= period", object.path());
    }
    return supply;
  }

  void read_callback(ObjectReader& object, ExecutorPlan& executor) {
    CallbackPlan planned;
    planned.id = object.required_text("id", "a unique name");
    Address& address = planned.address;
    address.node = object.required_text("node", "the node's fully qualified name");
    address.kind = object.kind("kind", address.kind);
    if (const json* topics = object.optional("topics")) {
      object.for_each(*topics, object.path_of("topics"), [&](const json& topic, const auto& path) {
        address.topics.push_back(object.read_text(topic, path));
      });
    }
    if (const auto period = object.time("period")) {
      address.period = positive(object, "period", *period);
    } else if (address.kind == model::CallbackKind::timer) {
      findings_.fail("{}: missing; by their period timers are found", object.path_of("period"));
    }
    read_ordinals(object, address);
    planned.group = object.text("callback_group");
    PolicyDescription::Callback callback{.category = policy::category(address.kind)};
    callback.priority = object.integer("priority").value_or(callback.priority);
    if (const auto deadline = object.time("deadline")) {
      callback.deadline = positive(object, "deadline", *deadline);
    }
    callback.is_root = object.boolean("root").value_or(true);
    if (!local_.try_emplace(planned.id, executor.callbacks.size()).second) {
      findings_.fail("{}: \"{}\" is the id of another callback", object.path_of("id"), planned.id);
    }
    executor.callbacks.push_back(std::move(planned));
    executor.policy.callbacks.push_back(callback);
  }

  /// One for each topic, or "ordinal" if they are all the same.
  void read_ordinals(ObjectReader& object, Address& address) {
    const std::int64_t same = object.integer("ordinal").value_or(0);
    if (same < 0) findings_.fail("{}: must not be negative", object.path_of("ordinal"));
    const std::size_t entities = std::max<std::size_t>(1, address.topics.size());
    address.ordinals.assign(entities, static_cast<std::size_t>(same));
    const json* list = object.optional("ordinals");
    if (list == nullptr) return;
    const std::string path = object.path_of("ordinals");
    address.ordinals.clear();
    object.for_each(*list, path, [&](const json& element, const std::string& place) {
      const std::int64_t ordinal = object.read_integer(element, place, "an integer");
      if (ordinal < 0) findings_.fail("{}: must not be negative", place);
      address.ordinals.push_back(static_cast<std::size_t>(ordinal));
    });
    if (address.ordinals.size() != entities) {
      findings_.fail("{}: must be {}, one for each topic", path, entities);
    }
  }

  Local find(const std::string& id, const std::string& path) {
    const auto known = local_.find(id);
    if (known != local_.end()) return Local(known->second);
    findings_.fail("{}: \"{}\" is no callback of this executor", path, id);
    return Local(0);
  }

  void read_chain(ObjectReader& object, PolicyDescription& policy) {
    scheduling::ChainEdfPolicy::Chain chain;
    if (const json* ids = object.required("callbacks", "ids of callbacks, one after the other")) {
      object.for_each(*ids, object.path_of("callbacks"), [&](const json& id, const auto& path) {
        chain.callbacks.push_back(find(object.read_text(id, path), path));
      });
    }
    if (chain.callbacks.empty()) {
      findings_.fail("{}: needs at least one callback", object.path_of("callbacks"));
    }
    chain.relative_deadline = positive(
        object, "deadline", object.required_time("deadline", "from release to completion"));
    if (const auto period = object.time("period"))
      chain.period = positive(object, "period", *period);
    policy.chains.push_back(std::move(chain));
  }

  /// Chains may share their first callback, no other.
  void check_chains(const ObjectReader& object, const PolicyDescription& policy) {
    std::vector<bool> is_head(policy.callbacks.size());
    std::vector<bool> is_inner(policy.callbacks.size());
    for (const auto& chain : policy.chains) {
      for (std::size_t i = 0; i < chain.callbacks.size(); ++i) {
        const std::size_t callback = chain.callbacks[i].value();
        if (callback >= is_head.size()) return;  // a fault has been found
        if (is_inner[callback] || (i > 0 && is_head[callback])) {
          findings_.fail("{}: chains share a callback that is not the first of both",
                         object.path_of("chains"));
        }
        (i == 0 ? is_head : is_inner)[callback] = true;
      }
    }
  }

  void read_table(ObjectReader& object, PolicyDescription& policy) {
    policy.cycle =
        positive(object, "cycle", object.required_time("cycle", "how often the slots repeat"));
    Duration end{};
    read_list(object, "slots", true, [&](ObjectReader& slot) {
      scheduling::TableDrivenPolicy::Slot read;
      read.start = slot.required_time("start", "when the slot begins within the cycle");
      read.end = slot.required_time("end", "when the slot ends within the cycle");
      read.callback = find(slot.required_text("callback", "an id"), slot.path_of("callback"));
      if (read.start < end || read.end <= read.start || read.end > policy.cycle) {
        findings_.fail("{}: slots come in order, do not overlap, and end within the cycle",
                       slot.path());
      }
      end = read.end;
      policy.slots.push_back(read);
    });
    if (policy.slots.empty())
      findings_.fail("{}: needs at least one slot", object.path_of("slots"));
  }

  Findings& findings_;
  std::unordered_set<std::string> executors_;
  /// The callbacks of the present executor by their ids.
  std::unordered_map<std::string, std::size_t> local_;
};

}  // namespace

Result<Plan> parse_plan(std::string_view text, std::string_view source) {
  const json document = TAKT_TRY(model::parse_document(text, source, "plan"));
  Findings findings;
  Plan plan = PlanReader(findings).read(document);
  if (!findings.fault.empty()) return error("{}: {}", source, findings.fault);
  for (const std::string& warning : findings.warnings) {
    plan.warnings.push_back(fmt::format("{}: {}", source, warning));
  }
  return plan;
}

Result<Plan> read_plan(const std::string& path) {
  constexpr std::size_t most = std::size_t{64} << 20;
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 1 << 16> buffer{};
  while (file.read(buffer.data(), buffer.size()) || file.gcount() > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > most) return error("{}: larger than 64 MiB; is it a plan?", path);
  }
  if (!file.eof()) return error("{}: cannot be read; is it a file?", path);
  return parse_plan(text, path);
}

Result<Plan> read_plan(const std::string& path, std::string_view executor) {
  Plan plan = TAKT_TRY(read_plan(path));
  const Result<const ExecutorPlan*> found = find_executor(plan, executor);
  if (!found) return error("{}: {}", path, found.error().message);
  plan.executors = std::vector{**found};
  return plan;
}

}  // namespace takt::plan
