// The tables that are copied from one store to another. Private to this folder.
#pragma once

#include <string_view>
#include <vector>

namespace hone::store {

struct Reference {
  std::string_view column;
  std::string_view table;
};

struct Table {
  std::string_view name;
  std::vector<std::string_view> columns;  // copied as they are
  std::vector<Reference> references;      // copied as the id of the equal row in this store
  std::vector<std::string_view> key;      // what tells rows apart, of the columns and references
  bool has_id = true;
};

// In order of their references. Leases are of running processes and stay behind.
std::vector<Table> tables();

}  // namespace hone::store
