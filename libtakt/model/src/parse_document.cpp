#include "takt/model/parse_document.hpp"

#include <set>
#include <string>
#include <vector>

namespace takt::model {

namespace {

constexpr std::size_t largest_document = std::size_t{64} << 20;
constexpr int deepest_nesting = 64;

/// Leaves the parser early; caught below.
struct Rejected {
  std::string reason;
};

/// "line 3, column 7" of a byte offset.
std::string place(std::string_view text, std::size_t offset) {
  std::size_t line = 1;
  std::size_t column = 1;
  for (const char c : text.substr(0, offset)) {
    ++column;
    if (c == '\n') {
      ++line;
      column = 1;
    }
  }
  return fmt::format("line {}, column {}", line, column);
}

}  // namespace

Result<nlohmann::json> parse_document(std::string_view text, std::string_view source) {
  using Event = nlohmann::json::parse_event_t;
  if (text.size() > largest_document) {
    return error("{}: the document has {} bytes, more than the {} that are read; it is not a model",
                 source, text.size(), largest_document);
  }
  std::vector<std::set<std::string>> open_objects;
  const auto watch = [&](int depth, Event event, nlohmann::json& parsed) {
    if (depth > deepest_nesting) {
      throw Rejected{fmt::format("nested more than {} deep; it is not a model", deepest_nesting)};
    }
    if (event == Event::object_start) open_objects.emplace_back();
    if (event == Event::object_end) open_objects.pop_back();
    if (event == Event::key && !open_objects.back().insert(parsed.get<std::string>()).second) {
      throw Rejected{fmt::format("an object names the field \"{}\" twice; keep one of them",
                                 parsed.get<std::string>())};
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, watch);
  } catch (const Rejected& rejected) {
    return error("{}: {}", source, rejected.reason);
  } catch (const nlohmann::json::parse_error& fault) {
    return error("{}: {}: not valid JSON; is this a takt/model document?", source,
                 place(text, fault.byte == 0 ? 0 : fault.byte - 1));
  } catch (const nlohmann::json::out_of_range&) {
    return error("{}: a number is too large for JSON; times are integers in nanoseconds", source);
  }
}

}  // namespace takt::model
