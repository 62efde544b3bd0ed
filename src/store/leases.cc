// Leases on work in flight.
#include "store/clock.h"
#include "store/process.h"
#include "store/sqlite.h"
#include "store/store.h"

namespace hone::store {
namespace {

struct Expiry {
  std::string wall;  // UTC
  std::string boot;
  std::int64_t boot_milliseconds;
};

Expiry expiry_in(std::chrono::milliseconds ttl) {
  return {to_text(std::chrono::system_clock::now() + ttl), boot_id(),
          boot_milliseconds() + ttl.count()};
}

bool is_past(const Expiry& expiry) {
  if (!expiry.boot.empty() && expiry.boot == boot_id())
    return expiry.boot_milliseconds <= boot_milliseconds();
  return expiry.wall <= now_text();
}

}  // namespace

Result<bool> Store::try_lease(std::string_view key, std::string_view owner,
                              std::chrono::milliseconds ttl) {
  return write(*database_, [&]() -> Result<bool> {
    HONE_ASSIGN(const auto held,
                (database_->find<std::string, std::string, std::string, std::int64_t>(
                    "SELECT owner, expires, boot, expires_boot_ms FROM lease WHERE key = ?", key)));
    if (held) {
      const auto& [holder, wall, boot, boot_ms] = *held;
      if (holder != owner && !is_past({wall, boot, boot_ms}) && !is_gone(holder)) return false;
    }
    const Expiry expiry = expiry_in(ttl);
    HONE_TRY(database_->execute(
        "INSERT INTO lease (key, owner, taken, heartbeat, expires, boot, expires_boot_ms) "
        "VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6) ON CONFLICT (key) DO UPDATE SET "
        "taken = CASE WHEN owner = excluded.owner THEN taken ELSE excluded.taken END, "
        "owner = excluded.owner, heartbeat = excluded.heartbeat, expires = excluded.expires, "
        "boot = excluded.boot, expires_boot_ms = excluded.expires_boot_ms",
        key, owner, now_text(), expiry.wall, expiry.boot, expiry.boot_milliseconds));
    return true;
  });
}

Result<bool> Store::heartbeat(std::string_view key, std::string_view owner,
                              std::chrono::milliseconds ttl) {
  const Expiry expiry = expiry_in(ttl);
  HONE_TRY(database_->execute(
      "UPDATE lease SET heartbeat = ?, expires = ?, boot = ?, expires_boot_ms = ? "
      "WHERE key = ? AND owner = ?",
      now_text(), expiry.wall, expiry.boot, expiry.boot_milliseconds, key, owner));
  return database_->changed_rows() == 1;
}

Result<std::int64_t> Store::heartbeat_all(std::string_view owner, std::chrono::milliseconds ttl) {
  const Expiry expiry = expiry_in(ttl);
  HONE_TRY(database_->execute(
      "UPDATE lease SET heartbeat = ?, expires = ?, boot = ?, expires_boot_ms = ? WHERE owner = ?",
      now_text(), expiry.wall, expiry.boot, expiry.boot_milliseconds, owner));
  return database_->changed_rows();
}

Status Store::release(std::string_view key, std::string_view owner) {
  return database_->execute("DELETE FROM lease WHERE key = ? AND owner = ?", key, owner);
}

Status Store::release_all(std::string_view owner) {
  return database_->execute("DELETE FROM lease WHERE owner = ?", owner);
}

Result<std::vector<Lease>> Store::leases() {
  HONE_ASSIGN(Statement statement,
              database_->query("SELECT key, owner, taken, heartbeat, expires FROM lease "
                               "ORDER BY key"));
  std::vector<Lease> leases;
  while (true) {
    HONE_ASSIGN(const bool found, statement.step());
    if (!found) return leases;
    Lease& lease = leases.emplace_back();
    statement.read(lease.key, lease.owner, lease.taken, lease.heartbeat, lease.expires);
  }
}

}  // namespace hone::store
