#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "takt/live/window.hpp"
#include "takt/model/model.hpp"
#include "takt/time/time.hpp"

namespace takt::live {

/// Something that a person who watches a robot has to know.
struct Alert {
  enum class Kind {
    goal,  ///< the chain took longer than its goal
    gap,   ///< the chain was completed regularly, and no longer is
    loss,  ///< events were lost, so figures may lack the worst
  };
  Kind kind = Kind::goal;
  std::string chain;  ///< empty: for a loss
  Instant since;
  /// When there was cause for it last.
  Instant last;
};

[[nodiscard]] std::string_view to_string(Alert::Kind kind);

/// Raises an alert as soon as there is cause for it, and ends it when there was none for a while,
/// so that one which comes and goes is one alert.
class Alerts {
 public:
  static constexpr Duration calm = std::chrono::seconds{30};

  /// The chains of a model with their windows, how many events were lost since the beginning, and
  /// by chain whether all of its programs have ended: then nobody waits for it to be completed.
  /// Returns a line for people for each alert that began or ended.
  std::vector<std::string> update(Instant now, const std::vector<model::Chain>& chains,
                                  const std::vector<ChainWindow>& windows, std::uint64_t lost,
                                  const std::vector<bool>& has_ended);
  [[nodiscard]] const std::vector<Alert>& present() const { return present_; }

 private:
  void raise(Alert::Kind kind, const std::string& chain, Instant now, std::string line);

  struct Counted {
    std::string chain;
    std::uint64_t missed = 0;
  };
  std::vector<Counted> counted_;
  std::uint64_t lost_ = 0;
  std::vector<Alert> present_;
  std::vector<std::string> lines_;
};

/// As in the documents takt/watch and takt/status: kind, chain and since, in ns.
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<Alert>& alerts);

}  // namespace takt::live
