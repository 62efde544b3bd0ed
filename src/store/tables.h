// Tables that are copied from one store to another, as the schema defines them. Private to this
// folder.
#pragma once

#include <string>
#include <vector>

#include "store/sqlite.h"

namespace hone::store {

struct Reference {
  std::string column;
  std::string table;
};
inline auto fields_of(Reference& reference) {
  return std::tie(reference.column, reference.table);
}

struct Table {
  std::string name;
  std::vector<std::string> columns;   // copied as they are
  std::vector<Reference> references;  // copied as the id of the equal row in this store
  std::vector<std::string> key;       // what tells rows apart, of the columns and references
  bool has_id = true;
};

// Returns the tables in the order of their creation, each behind those that it refers to. Leases
// belong to running processes and are excluded.
Result<std::vector<Table>> tables();

}  // namespace hone::store
