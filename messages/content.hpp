// What is said in a conversation: contents made of parts.
//
// Contents are immutable and shared once made, so a long conversation is never copied. A part may carry an
// opaque provider blob (a thought signature, the provider's own call id): it goes back to the same model
// verbatim and is stripped when the model changes; nobody else looks inside.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/ids.hpp>
#include <troupe/messages/shared_text.hpp>

#include <nlohmann/json_fwd.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace troupe {

enum class role : std::uint8_t { user, model, tool };

struct text_part {
  std::string text;
  friend bool operator==(const text_part&, const text_part&) = default;
};

struct thought_part {
  std::string text;
  friend bool operator==(const thought_part&, const thought_part&) = default;
};

// `arguments` is the text that the model wrote, which need not be JSON.
struct tool_call_part {
  call_id call;
  std::string name;
  std::string arguments;
  friend bool operator==(const tool_call_part&, const tool_call_part&) = default;
};

struct tool_result_part {
  call_id call;
  std::string name;
  std::string text;
  bool is_error = false;
  friend bool operator==(const tool_result_part&, const tool_result_part&) = default;
};

// Bytes (base64) or a URI, never both.
struct data_part {
  std::string mime_type;
  std::string base64;
  std::string uri;
  friend bool operator==(const data_part&, const data_part&) = default;
};

// `blob` belongs to the provider: JSON text, empty when there is none. It is an object with one member, named
// after the protocol, so a provider passes over what another one has left. A piece of an answer of a kind that
// is not modelled here is an empty text_part (or a data_part) whose blob holds the whole of it. Shared by the event, the call
// and the content that have it.
struct part {
  std::variant<text_part, thought_part, tool_call_part, tool_result_part, data_part> value;
  shared_text blob;
  friend bool operator==(const part&, const part&) = default;
};

// A slot for the form of an immutable value in one protocol, made at most once.
// Thread-safe; a copy of the owner starts empty, since it may be changed before it is shared.
class encoded_form {
 public:
  encoded_form() = default;
  encoded_form(const encoded_form&) noexcept {}
  encoded_form& operator=(const encoded_form&) noexcept { return *this; }
  ~encoded_form() { delete slot_.load(std::memory_order_acquire); }

  // The text for `protocol` (any address that names it). `make` is called when this slot holds none yet; when
  // it holds the form of another protocol, the text is made anew and not kept.
  template <class Make>
  std::shared_ptr<const std::string> get(const void* protocol, Make&& make) const {
    if (const auto* kept = slot_.load(std::memory_order_acquire)) {
      if (kept->protocol == protocol)
        return kept->text;
      return std::make_shared<const std::string>(make());
    }
    auto fresh = std::make_unique<entry>(entry{protocol, std::make_shared<const std::string>(make())});
    auto text = fresh->text;
    const entry* expected = nullptr;
    if (slot_.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel))
      static_cast<void>(fresh.release());
    return text;
  }

 private:
  struct entry {
    const void* protocol;
    std::shared_ptr<const std::string> text;
  };
  mutable std::atomic<const entry*> slot_{nullptr};
};

struct content {
  troupe::role role = role::user;
  std::vector<part> parts;
  encoded_form encoded;

  // The text parts, joined; thoughts are left out.
  [[nodiscard]] std::string text() const;

  friend bool operator==(const content& a, const content& b) {
    return a.role == b.role && a.parts == b.parts;
  }
};

using content_ptr = std::shared_ptr<const content>;

[[nodiscard]] content make_text(role who, std::string text);

[[nodiscard]] std::string_view to_string(role r) noexcept;

void to_json(nlohmann::json& j, const part& p);
void from_json(const nlohmann::json& j, part& p);
void to_json(nlohmann::json& j, const content& c);
void from_json(const nlohmann::json& j, content& c);

} // namespace troupe
