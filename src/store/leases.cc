// Leases on work in flight.
#include "store/host.h"
#include "store/row_queries.h"
#include "store/store.h"

namespace hone::store {
namespace {

struct Expiry {
  std::string now;   // UTC
  std::string wall;  // UTC
  std::string boot;
  std::int64_t boot_milliseconds;
};

Expiry expiry_in(std::chrono::milliseconds ttl) {
  const auto now = std::chrono::system_clock::now();
  return {to_text(now), to_text(now + ttl), boot_id(), boot_milliseconds() + ttl.count()};
}

}  // namespace

// A lease of another kernel or boot has times of a foreign clock, or of one that was set since. The
// owner's silence is therefore measured on this machine's monotonic clock, from when its present
// heartbeat was first seen.
bool Store::was_silent(std::string_view key, const std::string& heartbeat,
                       std::int64_t milliseconds) {
  const std::int64_t now = boot_milliseconds();
  const auto found = seen_leases_.find(key);
  if (found == seen_leases_.end() || found->second.heartbeat != heartbeat) {
    seen_leases_.insert_or_assign(std::string(key), SeenLease{heartbeat, now});
    return milliseconds <= 0;
  }
  return now - found->second.since >= milliseconds;
}

Result<bool> Store::try_lease(std::string_view key, std::string_view owner,
                              std::chrono::milliseconds ttl) {
  return write(*database_, [&]() -> Result<bool> {
    HONE_ASSIGN(
        const auto held,
        (database_
             ->find<std::tuple<std::string, std::string, std::int64_t, std::string, std::int64_t>>(
                 // Both texts come from one moment of the owner's clock, whatever its setting.
                 "SELECT owner, boot, expires_boot_ms, "
                 "owner || ' ' || expires_boot_ms || ' ' || heartbeat, CAST(round("
                 "(julianday(expires) - julianday(heartbeat)) * 86400000) AS INTEGER) "
                 "FROM lease WHERE key = ?",
                 key)));
    if (held) {
      const auto& [holder, boot, boot_ms, beat, lease_ms] = *held;
      const bool of_this_boot = !boot.empty() && boot == boot_id();
      const bool past =
          of_this_boot ? boot_ms <= boot_milliseconds() : was_silent(key, beat, lease_ms);
      if (holder != owner && !past && !is_gone(holder)) return false;
    }
    const Expiry expiry = expiry_in(ttl);
    HONE_TRY(database_->execute(
        "INSERT INTO lease (key, owner, taken, heartbeat, expires, boot, expires_boot_ms) "
        "VALUES (?1, ?2, ?3, ?3, ?4, ?5, ?6) ON CONFLICT (key) DO UPDATE SET "
        "taken = CASE WHEN owner = excluded.owner THEN taken ELSE excluded.taken END, "
        "owner = excluded.owner, heartbeat = excluded.heartbeat, expires = excluded.expires, "
        "boot = excluded.boot, expires_boot_ms = excluded.expires_boot_ms",
        key, owner, expiry.now, expiry.wall, expiry.boot, expiry.boot_milliseconds));
    return true;
  });
}

Result<bool> Store::heartbeat(std::string_view key, std::string_view owner,
                              std::chrono::milliseconds ttl) {
  const Expiry expiry = expiry_in(ttl);
  HONE_TRY(database_->execute(
      "UPDATE lease SET heartbeat = ?, expires = ?, boot = ?, expires_boot_ms = ? "
      "WHERE key = ? AND owner = ?",
      expiry.now, expiry.wall, expiry.boot, expiry.boot_milliseconds, key, owner));
  return database_->changed_rows() == 1;
}

Result<std::int64_t> Store::heartbeat_all(std::string_view owner, std::chrono::milliseconds ttl) {
  const Expiry expiry = expiry_in(ttl);
  HONE_TRY(database_->execute(
      "UPDATE lease SET heartbeat = ?, expires = ?, boot = ?, expires_boot_ms = ? WHERE owner = ?",
      expiry.now, expiry.wall, expiry.boot, expiry.boot_milliseconds, owner));
  return database_->changed_rows();
}

Status Store::release(std::string_view key, std::string_view owner) {
  return database_->execute("DELETE FROM lease WHERE key = ? AND owner = ?", key, owner);
}

Status Store::release_all(std::string_view owner) {
  return database_->execute("DELETE FROM lease WHERE owner = ?", owner);
}

Result<std::vector<Lease>> Store::leases() {
  return select_all<Lease>(*database_, "ORDER BY key");
}

}  // namespace hone::store
