// From the name of a store to the store, and the place of the default one.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/default_store_path.hpp>
#include <troupe/runtime/stores/open_store.hpp>

#include <doctest/doctest.h>

#include <optional>

#include "support/temporary_folder.hpp"
#include <stdlib.h>

using namespace troupe;
namespace fs = std::filesystem;

namespace {

// A variable of the environment for a scope; null: not set.
class variable {
 public:
  variable(const char* name, const char* value) : name_(name) {
    if (const char* old = ::getenv(name))
      old_ = old;
    set(value);
  }
  variable(const variable&) = delete;
  variable& operator=(const variable&) = delete;
  ~variable() { set(old_ ? old_->c_str() : nullptr); }

 private:
  void set(const char* value) const {
    if (value == nullptr)
      ::unsetenv(name_);
    else
      ::setenv(name_, value, 1);
  }
  const char* name_;
  std::optional<std::string> old_;
};

} // namespace

TEST_CASE("sessions are kept in the XDG state folder, and relative values of it are ignored") {
  const variable home{"HOME", "/home/ann"};
  for (const char* unusable : {static_cast<const char*>(nullptr), "", "state", "./state"}) {
    const variable state{"XDG_STATE_HOME", unusable};
    const auto path = default_store_path();
    REQUIRE(path);
    CHECK(*path == fs::path{"/home/ann/.local/state/troupe/troupe.db"});
  }
  const variable state{"XDG_STATE_HOME", "/state"};
  CHECK(*default_store_path() == fs::path{"/state/troupe/troupe.db"});
}

TEST_CASE("without a folder for it there is no default store, and the message says why") {
  const variable state{"XDG_STATE_HOME", "state"};
  for (const char* unusable : {static_cast<const char*>(nullptr), "", "home/ann"}) {
    const variable home{"HOME", unusable};
    const auto path = default_store_path();
    REQUIRE_FALSE(path);
    CHECK(path.failure().code == errc::bad_config);
    CHECK(path.failure().message.find("HOME") != std::string::npos);
    CHECK_FALSE(open_store("sqlite", durability::strict));
  }
}

TEST_CASE("a store is made from its name") {
  test::temporary_folder folder;
  const variable state{"XDG_STATE_HOME", folder.path().c_str()};
  const auto named = "sqlite:" + (folder.path() / "named.db").string();
  auto memory = open_store("memory", durability::strict);
  REQUIRE(memory);
  CHECK((*memory)->immediate());
  CHECK((*open_store(named, durability::memory))->immediate());
  CHECK_FALSE(fs::exists(folder.path() / "named.db"));
  for (auto how : {durability::strict, durability::relaxed}) {
    auto store = open_store(named, how);
    REQUIRE(store);
    CHECK_FALSE((*store)->immediate());
  }
  CHECK(fs::exists(folder.path() / "named.db"));
  CHECK(open_store("sqlite", durability::strict));
  CHECK(fs::exists(folder.path() / "troupe" / "troupe.db"));
  for (const char* wrong : {"", "sqlite:", "postgres:x", "Memory"}) {
    auto refused = open_store(wrong, durability::strict);
    REQUIRE_FALSE(refused);
    CHECK(refused.failure().code == errc::bad_config);
  }
}
