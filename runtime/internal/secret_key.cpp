// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/internal/uri_reference.hpp>
#include <troupe/runtime/sanitizer.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <vector>

namespace troupe {

namespace {

// Secret wherever a name ends with them.
constexpr std::array<std::string_view, 15> strong_words{
    "password",     "passwd",       "passphrase",  "apikey",        "accesskey",
    "secretkey",    "privatekey",   "accesstoken", "authtoken",     "refreshtoken",
    "clientsecret", "sessiontoken", "bearertoken", "authorization", "idtoken"};
// Secret only as words of their own: `author`, `oauth` and `max_tokens` are none.
constexpr std::array<std::string_view, 11> weak_words{"token",      "secret",        "auth",      "cookie",
                                                      "credential", "credentials",   "clientid",  "sessionid",
                                                      "pwd",        "encryptionkey", "signingkey"};

constexpr std::size_t max_key = 120;

} // namespace

bool is_secret_key(std::string_view name) {
  auto decoded = internal::percent_decode(name.substr(0, max_key));
  std::string word;
  std::vector<bool> begins; // a word begins at this letter
  bool fresh = true;
  char last = '\0';
  for (char c : decoded) {
    auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) == 0) {
      fresh = true;
    } else {
      bool camel = std::isupper(byte) != 0 && std::islower(static_cast<unsigned char>(last)) != 0;
      begins.push_back(fresh || camel);
      word += static_cast<char>(std::tolower(byte));
      fresh = false;
    }
    last = c;
  }
  while (!word.empty() && std::isdigit(static_cast<unsigned char>(word.back())) != 0)
    word.pop_back();
  auto ends = [&](std::string_view secret) { return word.ends_with(secret); };
  if (std::any_of(strong_words.begin(), strong_words.end(), ends))
    return true;
  return std::any_of(weak_words.begin(), weak_words.end(), [&](std::string_view secret) {
    return ends(secret) && begins[word.size() - secret.size()];
  });
}

} // namespace troupe
