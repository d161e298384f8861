#include "takt/columns/column.hpp"

namespace takt::columns {
namespace {

/// Deletes a structure of the interface, a child or a dictionary, by its own release function.
/// A receiver may have moved it out; then there is no such function any more.
template <typename Structure>
struct Released {
  void operator()(Structure* structure) const {
    if (structure->release != nullptr) {
      structure->release(structure);
    }
    delete structure;
  }
};
template <typename Structure>
using Owned = std::unique_ptr<Structure, Released<Structure>>;

template <typename Structure>
struct Parts {
  std::vector<Owned<Structure>> children;
  std::vector<Structure*> children_view;
  Owned<Structure> dictionary;
};

struct SchemaData : Parts<ArrowSchema> {
  std::string name;
  std::string format;
};

struct ArrayData : Parts<ArrowArray> {
  std::vector<Buffer> buffers;
  std::vector<const void*> buffers_view;
};

template <typename Data, typename Structure>
void release(Structure* structure) {
  delete static_cast<Data*>(structure->private_data);
  structure->release = nullptr;
}

/// Gives the structure its data, children and dictionary, made by `convert`.
template <typename Data, typename Structure>
void attach(const Column& column, std::unique_ptr<Data> data, Structure& structure,
            void (*convert)(const Column&, Structure&)) {
  const auto make = [convert](const Column& part) {
    Owned<Structure> made(new Structure{});
    convert(part, *made);
    return made;
  };
  for (const Column& child : column.children) {
    data->children.push_back(make(child));
    data->children_view.push_back(data->children.back().get());
  }
  if (!column.dictionary.empty()) {
    data->dictionary = make(column.dictionary.front());
  }
  structure.n_children = static_cast<std::int64_t>(data->children.size());
  structure.children = data->children_view.data();
  structure.dictionary = data->dictionary.get();
  structure.release = release<Data, Structure>;
  structure.private_data = data.release();
}

template <typename T>
Column plain(std::string name, const char* format, std::vector<T> elements) {
  const auto length = static_cast<std::int64_t>(elements.size());
  return {std::move(name), format, length, {Buffer(std::move(elements))}, {}, {}};
}

}  // namespace

Column numbers(std::string name, std::vector<std::int64_t> elements) {
  return plain(std::move(name), "l", std::move(elements));
}

Column numbers(std::string name, std::vector<std::uint64_t> elements) {
  return plain(std::move(name), "L", std::move(elements));
}

Column numbers(std::string name, std::vector<std::uint16_t> elements) {
  return plain(std::move(name), "S", std::move(elements));
}

Column texts(std::string name, std::vector<std::int64_t> ends, std::string bytes) {
  const auto length = static_cast<std::int64_t>(ends.size()) - 1;
  return {
      std::move(name), "U", length, {Buffer(std::move(ends)), Buffer(std::move(bytes))}, {}, {}};
}

Column lists(std::string name, std::vector<std::int64_t> ends,
             std::vector<std::uint64_t> elements) {
  const auto length = static_cast<std::int64_t>(ends.size()) - 1;
  return {std::move(name),
          "+L",
          length,
          {Buffer(std::move(ends))},
          {numbers("item", std::move(elements))},
          {}};
}

Column choices(std::string name, std::vector<std::int32_t> positions, Column texts) {
  Column column = plain(std::move(name), "i", std::move(positions));
  column.dictionary.push_back(std::move(texts));
  return column;
}

Column table(std::string name, std::int64_t length, std::vector<Column> columns) {
  return {std::move(name), "+s", length, {}, std::move(columns), {}};
}

void export_schema(const Column& column, ArrowSchema& schema) {
  auto data = std::make_unique<SchemaData>();
  data->name = column.name;
  data->format = column.format;
  schema = {};
  schema.format = data->format.c_str();
  schema.name = data->name.c_str();
  attach(column, std::move(data), schema, export_schema);
}

void export_array(const Column& column, ArrowArray& array) {
  auto data = std::make_unique<ArrayData>();
  data->buffers = column.buffers;
  data->buffers_view.push_back(nullptr);  // no nulls
  for (const Buffer& buffer : data->buffers) {
    data->buffers_view.push_back(buffer.data());
  }
  array = {};
  array.length = column.length;
  array.n_buffers = static_cast<std::int64_t>(data->buffers_view.size());
  array.buffers = data->buffers_view.data();
  attach(column, std::move(data), array, export_array);
}

}  // namespace takt::columns
