#include "takt/execution/active_phase.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "takt/base/json_text.hpp"
#include "takt/execution/names.hpp"
#include "takt/execution/provenance.hpp"

namespace takt::execution {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view allocations = "lttng_ust_libc:";
constexpr std::string_view page_fault = "page_fault";

/// Places in the program that a row remembers; a program whose faults come from more of them is
/// shown by the first ones.
constexpr std::size_t most_known_places = 4096;

/// Bytes that a call of the C library asks for. `fields`: a JSON object.
std::uint64_t bytes_of(const nlohmann::json& fields) {
  const auto number = [&](const char* name) -> std::optional<std::uint64_t> {
    const auto found = fields.find(name);
    if (found == fields.end() || !found->is_number_unsigned()) return std::nullopt;
    return found->get<std::uint64_t>();
  };
  std::uint64_t bytes = 0;
  const bool overflows =
      __builtin_mul_overflow(number("size").value_or(0), number("nmemb").value_or(1), &bytes);
  return overflows ? 0 : bytes;  // such a call fails
}

}  // namespace

void ActivePhase::add(const Database& database, std::string what, ThreadIndex thread, Instant time,
                      std::uint64_t bytes, std::uint64_t place, const CallbackInstance* running) {
  if (!database.steady_since()) {
    ++in_start_up_[what];
    return;
  }
  const auto callback = running != nullptr ? std::optional(running->callback) : std::nullopt;
  const auto [entry, is_new] = rows_.try_emplace({std::move(what), thread, callback});
  Row& row = entry->second;
  if (is_new) row.first = time;
  row.last = time;
  ++row.count;
  if (__builtin_add_overflow(row.bytes, bytes, &row.bytes)) row.bytes = UINT64_MAX;
  const bool is_known = row.places.contains(place);
  if (place != 0 && (is_known || row.places.size() < most_known_places)) ++row.places[place];
}

void ActivePhase::on_page_fault(const Database& database, Instant time, ThreadIndex thread,
                                std::uint64_t ip, const CallbackInstance* running) {
  add(database, "page fault", thread, time, 0, ip, running);
}

void ActivePhase::on_foreign(const Database& database, const Occurrence& at,
                             const tracepoints::Foreign& event, const CallbackInstance* running) {
  if (event.event.starts_with(allocations)) {
    const auto fields = nlohmann::json::parse(event.fields, nullptr, false);
    const std::uint64_t bytes = fields.is_object() ? bytes_of(fields) : 0;
    add(database, std::string(event.event.substr(allocations.size())), at.thread, at.time, bytes, 0,
        running);
    return;
  }
  if (event.event.find(page_fault) == std::string_view::npos ||
      event.event.find("kernel") != std::string_view::npos) {
    return;
  }
  // Without contexts, nobody but the scheduler says whose it is.
  const events::Threads& threads = database.threads();
  if (threads[at.process].id != 0) {
    add(database, "page fault", at.thread, at.time, 0, 0, running);
    return;
  }
  const HostIndex host = threads[at.process].host;
  const auto on = on_processor_.find({host, at.cpu});
  const std::int64_t number = on != on_processor_.end() ? on->second : 0;
  if (const auto thread = kernel_threads_.find(threads, host, number)) {
    add(database, "page fault", *thread, at.time, 0, 0, nullptr);
  } else {
    on_page_fault_elsewhere(database, host, number);
  }
}

void ActivePhase::on_page_fault_elsewhere(const Database& database, HostIndex host,
                                          std::int64_t thread) {
  ++(database.steady_since() ? elsewhere_[{host, thread}] : in_start_up_["page fault"]);
}

void ActivePhase::on_switch(const Database& database, const Occurrence& at,
                            const tracepoints::SchedSwitch& change) {
  const HostIndex host = database.threads()[at.process].host;
  on_processor_.insert_or_assign({host, at.cpu}, change.next_tid);
  names_.insert_or_assign({host, change.prev_tid}, change.prev_comm);
  names_.insert_or_assign({host, change.next_tid}, change.next_comm);
}

std::string ActivePhase::to_json(const events::EventStream& source, const Database& database,
                                 const Pass& pass) const {
  const std::vector<std::string> ids = callback_ids(database.objects());
  const events::Threads& threads = database.threads();
  std::vector<const std::pair<const Key, Row>*> order;
  for (const auto& row : rows_) order.push_back(&row);
  std::ranges::stable_sort(
      order, [](const auto* a, const auto* b) { return a->second.count > b->second.count; });
  Json json{{"format", "takt/active_phase"}, {"version", 1}};
  json["inputs"] = inputs(source);
  const auto since = database.steady_since();
  json["since"] = since ? Json((*since - pass.first).count()) : Json();
  json["duration"] = since ? Json((pass.last - *since).count()) : Json();
  json["in_start_up"] = in_start_up_;
  json["calls"] = Json::array();
  for (const auto* const entry : order) {
    const auto& [what, thread, callback] = entry->first;
    const Row& row = entry->second;
    const events::Process& process = threads[threads[thread].process];
    std::vector<std::pair<std::uint64_t, std::uint64_t>> places(row.places.begin(),
                                                                row.places.end());
    std::ranges::sort(places, [](const auto& a, const auto& b) {
      return std::pair(b.second, a.first) < std::pair(a.second, b.first);
    });
    Json where = Json::array();
    for (std::size_t i = 0; i < std::min(places.size(), most_places); ++i) {
      where.push_back(
          {{"address", fmt::format("0x{:x}", places[i].first)}, {"count", places[i].second}});
    }
    json["calls"].push_back({{"what", what},
                             {"host", threads[process.host].name},
                             {"process", process.name},
                             {"pid", process.id},
                             {"thread", threads[thread].name},
                             {"tid", threads[thread].id},
                             {"callback", callback ? Json(ids[callback->value()]) : Json()},
                             {"count", row.count},
                             {"bytes", row.bytes},
                             {"first", (row.first - pass.first).count()},
                             {"last", (row.last - pass.first).count()},
                             {"places", std::move(where)}});
  }
  json["elsewhere"] = Json::array();
  for (const auto& [numbered, count] : elsewhere_) {
    const auto& [host, number] = numbered;
    const auto name = names_.find(numbered);
    json["elsewhere"].push_back({{"host", threads[host].name},
                                 {"thread", name != names_.end() ? Json(name->second) : Json()},
                                 {"tid", number != 0 ? Json(number) : Json()},
                                 {"count", count}});
  }
  json["by_name"] = source.counts();
  json["warnings"] = warnings(source, database);
  return json_text(json);
}

}  // namespace takt::execution
