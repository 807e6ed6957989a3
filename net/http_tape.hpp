// Records what goes over the wire, or answers from such a recording without the wire.
//
// A recording is a folder with one JSON file an exchange, named by the order of the calls ("000001.json"):
//   {"version": 1, "method": "POST", "path": "/v1/chat/completions", "request": {…},
//    "status": 200, "content_type": "text/event-stream", "body": "…", "complete": true}
// `request` is the body as JSON, or as text where it is none. A body that is not UTF-8 stands as "body_base64".
// `complete` is false when the client let go of the answer, or lost it, before its end.
//
// No secret is in it: of the headers only the content type of the answer is kept; parameters of the path that name a
// secret are left out; and where the value of a secret header (Authorization, x-api-key, …) of any call so far stands
// in a path or body, "[key]" stands instead. A value of fewer than min_secret_bytes is not looked for, and
// one that a stream brings in several events is not found.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/http_message.hpp>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>

namespace troupe::net {

class http_handler;

struct taped_answer {
  int status = 0;
  http_headers headers{};
  std::string body{};
  bool complete = true;
  std::string failure{}; // why there is no answer; empty when there is one
};

// Sees each request of a client first. Thread-safe; outlives the client.
class http_tape {
 public:
  // What becomes of a request: it is sent, and `handler` takes what comes; or, when there is one, `answer` is given
  // and nothing is sent.
  struct turn {
    std::shared_ptr<http_handler> handler;
    std::shared_ptr<const taped_answer> answer;
  };

  virtual ~http_tape() = default;
  // `handler` is who asked.
  [[nodiscard]] virtual turn begin(const http_request& request, std::shared_ptr<http_handler> handler) = 0;
};

constexpr std::size_t min_secret_bytes = 4;

struct tape_bounds {
  std::size_t max_files = 1'000'000;
  std::size_t max_file_bytes = std::size_t{256} << 20;
  std::size_t max_bytes = std::size_t{1} << 30; // of all files that are played
};

// Records into `folder`, which is made if need be; what is there stays, and new files come after it. The files can be
// read by their owner alone. A file is written on the thread of the connection and is there before the call ends;
// a call whose file cannot be written fails. An exchange without an answer leaves no file. Fails with bad_config.
[[nodiscard]] result<std::shared_ptr<http_tape>> make_http_recorder(const std::filesystem::path& folder);

// Plays the recording in `folder`, which is read at once. A request gets the answer to the request with the same
// method, path and body; bodies are compared as JSON, so the order of members does not matter. The n-th equal request
// gets the n-th answer. One that fits nothing gets an error that names the nearest recording and the first difference.
// Fails with bad_config.
[[nodiscard]] result<std::shared_ptr<http_tape>> make_http_player(const std::filesystem::path& folder,
                                                                  tape_bounds bounds = {});

} // namespace troupe::net
