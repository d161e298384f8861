#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "native.hpp"
#include "takt/analysis/analyze.hpp"
#include "takt/model/json.hpp"

namespace takt::native {

/// A model and how to analyse it, as the arguments of a function describe them.
struct AnalysisRequest {
  /// Throws InputError.
  AnalysisRequest(const std::string& text, const std::string& source, const std::string& analysis,
                  std::int64_t effort = analysis::Options().effort) {
    options.effort = effort;
    const auto method = analysis::method_from_string(analysis);
    if (!method) {
      throw InputError(
          fmt::format("analysis \"{}\" is none of {}", analysis, analysis::all_method_names()));
    }
    options.method = *method;
    model = unwrap(model::parse(text, source)).model;
  }

  model::Model model;
  analysis::Options options;
};

}  // namespace takt::native
