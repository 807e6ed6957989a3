// Calls of a remote agent, against peers that tests play.
//
// SPDX-License-Identifier: Apache-2.0
#include <troupe/net/a2a/internal/conversation.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <map>

#include "net/a2a_peer.hpp"

using namespace troupe;
using namespace troupe::test;
using nlohmann::json;
using namespace std::chrono_literals;

namespace {

json message_of(const seen_request& r) {
  return json::parse(r.body)["params"]["message"];
}

content tool_answer(std::string text, bool is_error = false) {
  content c;
  c.role = role::tool;
  c.parts.push_back({tool_result_part{call_id{"c1-0-0"}, "request_input", std::move(text), is_error}, {}});
  return c;
}

std::vector<std::string> list(std::initializer_list<const char*> names) {
  return {names.begin(), names.end()};
}

scripted_reply asks_and_cancels(const seen_request& r) {
  return rpc_method(r) == "CancelTask" ? rpc_answer(r, task_item("CANCELED"))
                                       : rpc_stream(r, {state_item("INPUT_REQUIRED", "Which?")});
}

} // namespace

TEST_CASE("a streamed task becomes an answer, with its pieces on the way") {
  a2a_fixture f([](const seen_request& r) {
    return rpc_stream(r, {{{"task", task_item("SUBMITTED")}},
                          state_item("WORKING", "looking"),
                          piece_item("Hello "),
                          piece_item("there"),
                          state_item("COMPLETED")});
  });
  const auto r = f.call("Say hello.");
  REQUIRE_MESSAGE(r.response, (r.error ? r.error->message : "nothing"));
  CHECK(text_of(r) == "Hello there");
  CHECK(r.text == "Hello there");
  CHECK(r.thought == "looking");
  CHECK(std::get<thought_part>(r.response->parts.at(0).value).text == "looking");
  const auto ids = net::a2a::read_blob(r.response->parts.back().blob);
  REQUIRE(ids);
  CHECK(ids->context == "c1");
  CHECK(ids->task == "t1");
  const auto seen = f.server.requests().back();
  CHECK(seen.head.find("A2A-Version: 1.0") != std::string::npos);
  const auto sent = message_of(seen);
  CHECK(sent["role"] == "ROLE_USER");
  CHECK(sent["parts"] == json::parse(R"([{"text":"Say hello."}])"));
  CHECK(sent["metadata"]["https://troupe.dev/ext/hops"] == 1);
}

TEST_CASE("the same turn has the same message id, another turn another") {
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {state_item("COMPLETED", "ok")}); });
  auto request = remote_request("a");
  f.call(request);
  f.call(request);
  auto later = std::make_shared<model_request>(*request);
  later->turn = 1;
  f.call(later);
  const auto seen = f.server.requests();
  REQUIRE(seen.size() == 4);
  CHECK(message_of(seen[1])["messageId"] == message_of(seen[2])["messageId"]);
  CHECK(message_of(seen[1])["messageId"] != message_of(seen[3])["messageId"]);
}

TEST_CASE("the card is fetched once for all calls") {
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {state_item("COMPLETED", "ok")}); });
  f.call("a");
  f.call("b");
  std::size_t cards = 0;
  for (const auto& r : f.server.requests())
    cards += r.head.starts_with("GET /card") ? 1 : 0;
  CHECK(cards == 1);
  CHECK(f.provider->card_description() == "A peer.");
}

TEST_CASE("a task that ends badly is never shown as completed") {
  struct row {
    const char* state;
    errc code;
    const char* said;
  };
  for (const auto& [state, code, said] :
       {row{"FAILED", errc::tool_failed, "ended the task as failed"},
        row{"REJECTED", errc::model_refused, "rejected"},
        row{"CANCELED", errc::cancelled, "cancelled by the agent itself"}}) {
    a2a_fixture f([&, name = state](const seen_request& r) {
      return rpc_stream(r, {piece_item("half"), state_item(name, "because\x1b[31m")});
    });
    const auto r = f.call("x");
    REQUIRE(r.error);
    CHECK(r.error->code == code);
    CHECK_FALSE(r.error->retryable);
    CHECK(r.error->message.find(said) != std::string::npos);
    CHECK(r.error->message.find("because") != std::string::npos);
    CHECK(r.error->message.find('\x1b') == std::string::npos);
    CHECK(r.error->message.find("half") != std::string::npos);
  }
}

TEST_CASE("a question of the agent is asked, and its answer goes into the same task") {
  a2a_fixture f([](const seen_request& r) {
    if (message_of(r).contains("taskId"))
      // The task as it was comes first.
      return rpc_stream(r, {{{"task", task_item("INPUT_REQUIRED", "", "Which?")}},
                            state_item("WORKING"),
                            piece_item("blue it is"),
                            state_item("COMPLETED")});
    return rpc_stream(r, {{{"task", task_item("WORKING")}}, state_item("INPUT_REQUIRED", "Which?")},
                      scripted_reply::then::keep);
  });
  const auto request = remote_request("Paint.");
  const auto asked = f.call(request);
  REQUIRE(asked.response);
  const auto* call = std::get_if<tool_call_part>(&asked.response->parts.back().value);
  REQUIRE(call != nullptr);
  CHECK(call->name == "request_input");
  CHECK(json::parse(call->arguments)["message"] == "Which?");
  const auto done = f.call(after(*request, asked, tool_answer("blue")));
  REQUIRE_MESSAGE(done.response, (done.error ? done.error->message : "nothing"));
  CHECK(text_of(done) == "blue it is");
  const auto sent = message_of(f.server.requests().back());
  CHECK(sent["taskId"] == "t1");
  CHECK(sent["contextId"] == "c1");
  CHECK(sent["parts"][0]["text"] == "blue");
}

TEST_CASE("a task that asks from its first word on is a question, also when it asks anew") {
  a2a_fixture f([](const seen_request& r) {
    const bool again = message_of(r).contains("taskId");
    return rpc_stream(r, {{{"task", task_item("INPUT_REQUIRED", "", again ? "And which size?" : "Which?")}}},
                      scripted_reply::then::keep);
  });
  const auto request = remote_request("Paint.");
  const auto asked = f.call(request);
  REQUIRE(asked.response);
  const auto more = f.call(after(*request, asked, tool_answer("blue")));
  REQUIRE(more.response);
  const auto* call = std::get_if<tool_call_part>(&more.response->parts.back().value);
  REQUIRE(call != nullptr);
  CHECK(call->arguments.find("And which size?") != std::string::npos);
}

TEST_CASE("a demand for authentication is a question that says so") {
  a2a_fixture f(
      [](const seen_request& r) { return rpc_stream(r, {state_item("AUTH_REQUIRED", "Log in at x.")}); });
  const auto r = f.call("x");
  REQUIRE(r.response);
  const auto* call = std::get_if<tool_call_part>(&r.response->parts.back().value);
  REQUIRE(call != nullptr);
  CHECK(call->arguments.find("asks for authentication") != std::string::npos);
  CHECK(call->arguments.find("Log in at x.") != std::string::npos);
}

TEST_CASE("a question that nobody answers cancels the task") {
  a2a_fixture f(asks_and_cancels);
  const auto request = remote_request("Paint.");
  const auto asked = f.call(request);
  REQUIRE(asked.response);
  const auto r = f.call(after(*request, asked, tool_answer("denied: nobody", true)));
  REQUIRE(r.error);
  CHECK(r.error->code == errc::needs_input);
  CHECK(r.error->message.find("Which?") != std::string::npos);
  REQUIRE(f.server.wait_requests(3));
  CHECK(f.methods() == list({"SendStreamingMessage", "CancelTask"}));
  CHECK(json::parse(f.server.requests().back().body)["params"]["id"] == "t1");
}

TEST_CASE("dropping a call cancels its task") {
  a2a_fixture f([](const seen_request& r) {
    return rpc_method(r) == "CancelTask"
               ? rpc_answer(r, task_item("CANCELED"))
               : rpc_stream(r, {state_item("WORKING"), piece_item("x")}, scripted_reply::then::keep);
  });
  auto sink = std::make_shared<recording_sink>();
  auto running = f.provider->start(remote_request("x"), sink);
  static_cast<void>(sink->record.wait([](const model_record& seen) { return !seen.text.empty(); }));
  running.reset();
  REQUIRE(f.server.wait_requests(3));
  CHECK(f.methods() == list({"SendStreamingMessage", "CancelTask"}));
}

TEST_CASE("a call that is dropped after its question was answered cancels the task") {
  a2a_fixture f([](const seen_request& r) {
    if (rpc_method(r) == "CancelTask")
      return rpc_answer(r, task_item("CANCELED"));
    if (message_of(r).contains("taskId"))
      return scripted_reply{}; // takes its time
    return rpc_stream(r, {state_item("INPUT_REQUIRED", "Which?")});
  });
  const auto request = remote_request("Paint.");
  const auto asked = f.call(request);
  REQUIRE(asked.response);
  auto sink = std::make_shared<recording_sink>();
  auto running = f.provider->start(after(*request, asked, tool_answer("blue")), sink);
  REQUIRE(f.server.wait_requests(3));
  running.reset();
  REQUIRE(f.server.wait_requests(4));
  CHECK(f.methods() == list({"SendStreamingMessage", "SendStreamingMessage", "CancelTask"}));
}

TEST_CASE("an agent without streams is not waited for, so that its task can be cancelled") {
  a2a_fixture f(
      [](const seen_request& r) {
        if (rpc_method(r) == "CancelTask")
          return rpc_answer(r, task_item("CANCELED"));
        if (rpc_method(r) == "GetTask")
          return scripted_reply{};
        CHECK(json::parse(r.body)["params"]["configuration"]["returnImmediately"] == true);
        return rpc_answer(r, {{"task", task_item("WORKING")}});
      },
      false);
  auto sink = std::make_shared<recording_sink>();
  auto running = f.provider->start(remote_request("x"), sink);
  REQUIRE(f.server.wait_requests(3));
  running.reset();
  REQUIRE(f.server.wait_requests(4));
  CHECK(f.methods() == list({"SendMessage", "GetTask", "CancelTask"}));
}

TEST_CASE("a fault in the middle of a stream does not leave the task behind") {
  a2a_fixture f([](const seen_request& r) {
    if (rpc_method(r) == "CancelTask")
      return rpc_answer(r, task_item("CANCELED"));
    auto reply = rpc_stream(r, {state_item("WORKING")});
    reply.bytes += "data: no json\n\n";
    return reply;
  });
  CHECK(f.call("x").error->code == errc::model_bad_response);
  REQUIRE(f.server.wait_requests(3));
  CHECK(f.methods() == list({"SendStreamingMessage", "CancelTask"}));
}

TEST_CASE("a caller at its limit gives up the task that asks") {
  a2a_fixture f(asks_and_cancels);
  const auto request = remote_request("Paint.");
  const auto asked = f.call(request);
  REQUIRE(asked.response);
  const auto last = after(*request, asked, tool_answer("denied: nobody", true));
  last->head = std::make_shared<const prompt_head>();
  CHECK(f.call(last).error->code == errc::model_refused);
  REQUIRE(f.server.wait_requests(3));
  CHECK(f.methods() == list({"SendStreamingMessage", "CancelTask"}));
}

TEST_CASE("a context that the agent does not take is not offered again") {
  a2a_fixture f([](const seen_request& r) {
    if (message_of(r).contains("contextId"))
      return rpc_error(r, -32602, "no such context");
    return rpc_stream(r, {state_item("COMPLETED", "ok")});
  });
  CHECK(text_of(f.call("first")) == "ok");
  CHECK(f.call("second").error);
  CHECK(text_of(f.call("third")) == "ok");
}

TEST_CASE("a stream that breaks is taken up again") {
  a2a_fixture f([](const seen_request& r) {
    if (rpc_method(r) == "SubscribeToTask")
      return rpc_stream(
          r, {{{"task", task_item("WORKING", "one ")}}, piece_item("two"), state_item("COMPLETED")});
    return rpc_stream(r, {state_item("WORKING"), piece_item("one ")}, scripted_reply::then::reset);
  });
  const auto r = f.call("x");
  REQUIRE_MESSAGE(r.response, (r.error ? r.error->message : "nothing"));
  CHECK(text_of(r) == "one two");
  CHECK(f.methods() == list({"SendStreamingMessage", "SubscribeToTask"}));
}

TEST_CASE("where a stream cannot be taken up, the task is asked for, with growing pauses") {
  std::atomic<int> asked{0};
  a2a_fixture f([&](const seen_request& r) {
    if (rpc_method(r) == "SubscribeToTask")
      return rpc_error(r, -32004, "no");
    if (rpc_method(r) == "GetTask")
      return rpc_answer(r, ++asked < 4 ? task_item("WORKING") : task_item("COMPLETED", "done"));
    return rpc_stream(r, {state_item("WORKING")});
  });
  const auto r = f.call("x");
  REQUIRE_MESSAGE(r.response, (r.error ? r.error->message : "nothing"));
  CHECK(text_of(r) == "done");
  CHECK(f.clock.delays() == std::vector<std::int64_t>{100, 200, 400});
}

TEST_CASE("an agent that is gone in the middle is an error and never an answer") {
  a2a_fixture f([](const seen_request& r) {
    if (rpc_method(r) != "SendStreamingMessage")
      return answer(503, "gone");
    return rpc_stream(r, {state_item("WORKING"), piece_item("half")}, scripted_reply::then::reset);
  });
  const auto r = f.call("x");
  REQUIRE(r.error);
  CHECK_FALSE(r.error->retryable);
  CHECK(r.error->code == errc::model_unavailable);
  REQUIRE(f.server.wait_requests(7));
  CHECK(f.methods() ==
        list({"SendStreamingMessage", "SubscribeToTask", "GetTask", "GetTask", "GetTask", "CancelTask"}));
}

TEST_CASE("an agent without streams is asked once, and again while it works") {
  std::atomic<int> asked{0};
  a2a_fixture f(
      [&](const seen_request& r) {
        if (rpc_method(r) == "GetTask")
          return rpc_answer(r, ++asked < 2 ? task_item("WORKING") : task_item("COMPLETED", "done"));
        return rpc_answer(r, {{"task", task_item("WORKING")}});
      },
      false);
  const auto r = f.call("x");
  REQUIRE_MESSAGE(r.response, (r.error ? r.error->message : "nothing"));
  CHECK(text_of(r) == "done");
  CHECK(f.methods() == list({"SendMessage", "GetTask", "GetTask"}));
  CHECK(f.clock.delays() == std::vector<std::int64_t>{100, 200});
}

TEST_CASE("a message without a task is an answer") {
  a2a_fixture f(
      [](const seen_request& r) {
        return rpc_answer(r, {{"message",
                               {{"messageId", "m"},
                                {"contextId", "c9"},
                                {"role", "ROLE_AGENT"},
                                {"parts", {{{"text", "hi"}}}}}}});
      },
      false);
  const auto r = f.call("x");
  REQUIRE(r.response);
  CHECK(text_of(r) == "hi");
}

TEST_CASE("nothing at all is an error that may be tried again") {
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {}); });
  const auto r = f.call("x");
  REQUIRE(r.error);
  CHECK(r.error->code == errc::connection_lost);
  CHECK(r.error->retryable);
}

TEST_CASE("answers to other requests, and what is no JSON, are errors") {
  for (const std::string data : {R"({"jsonrpc":"2.0","id":"other","result":{}})", "no json", "[1,2]"}) {
    a2a_fixture f([&](const seen_request&) {
      scripted_reply reply;
      reply.bytes = open_head("text/event-stream") + "data: " + data + "\n\n";
      return reply;
    });
    const auto r = f.call("x");
    REQUIRE(r.error);
    CHECK(r.error->code == errc::model_bad_response);
  }
}

TEST_CASE("a following call goes on in the conversation, and a call at the same time has one of its own") {
  a2a_fixture f([](const seen_request& r) {
    if (message_of(r)["parts"][0]["text"] == "hold")
      return rpc_stream(r, {state_item("WORKING"), piece_item("x")}, scripted_reply::then::keep);
    return rpc_stream(r, {state_item("COMPLETED", "ok")});
  });
  f.call("first");
  auto sink = std::make_shared<recording_sink>();
  auto holds = f.provider->start(remote_request("hold"), sink);
  static_cast<void>(sink->record.wait([](const model_record& seen) { return !seen.text.empty(); }));
  f.call("beside");
  auto elsewhere = remote_request("elsewhere");
  elsewhere->session = "s2";
  f.call(elsewhere);
  std::map<std::string, bool> has_context;
  for (const auto& r : f.server.requests())
    if (!r.body.empty())
      has_context[message_of(r)["parts"][0]["text"]] = message_of(r).contains("contextId");
  CHECK_FALSE(has_context["first"]);
  CHECK(has_context["hold"]);
  CHECK_FALSE(has_context["beside"]);
  CHECK_FALSE(has_context["elsewhere"]);
}

TEST_CASE("a hint that the agent refuses leaves the earlier answer") {
  a2a_fixture f([](const seen_request& r) {
    if (message_of(r).contains("contextId"))
      return rpc_error(r, -32001, "no such task");
    return rpc_stream(r, {piece_item("the answer"), state_item("COMPLETED")});
  });
  const auto request = remote_request("x");
  const auto first = f.call(request);
  REQUIRE(first.response);
  const auto r = f.call(after(*request, first, make_text(role::user, "<hints>\n- be quick\n</hints>")));
  REQUIRE(r.response);
  CHECK(text_of(r) == "the answer");
  const auto& warning = std::get<thought_part>(r.response->parts.at(0).value).text;
  CHECK(warning.find("no such task") != std::string::npos);
}

TEST_CASE("a hint after an answer is a message of its own in the same conversation") {
  a2a_fixture f([](const seen_request& r) {
    return rpc_stream(r, {state_item("COMPLETED", message_of(r).contains("contextId") ? "quick" : "slow")});
  });
  const auto request = remote_request("x");
  const auto first = f.call(request);
  const auto r = f.call(after(*request, first, make_text(role::user, "<hints>\n- be quick\n</hints>")));
  CHECK(text_of(r) == "quick");
  const auto sent = message_of(f.server.requests().back());
  CHECK_FALSE(sent.contains("taskId"));
  CHECK(sent["referenceTaskIds"] == json::array({"t1"}));
}

TEST_CASE("beyond max_hops nobody is called") {
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {}); });
  auto request = remote_request("x");
  request->hops = 4;
  const auto r = f.call(request);
  REQUIRE(r.error);
  CHECK(r.error->code == errc::not_allowed);
  CHECK(r.error->message.find("max_hops") != std::string::npos);
  CHECK(f.server.requests().empty());
}

TEST_CASE("a caller at its limit asks no more") {
  a2a_fixture f([](const seen_request& r) { return rpc_stream(r, {}); });
  auto request = remote_request("x");
  request->head = std::make_shared<const prompt_head>();
  CHECK(f.call(request).error->code == errc::model_refused);
}

TEST_CASE("an answer that is too large ends the task") {
  net::a2a_agent agent;
  agent.max_answer_bytes = 1000;
  a2a_fixture f(
      [](const seen_request& r) {
        return rpc_method(r) == "CancelTask" ? rpc_answer(r, task_item("CANCELED"))
                                             : rpc_stream(r, {piece_item(std::string(2000, 'x'))});
      },
      true, {}, agent);
  CHECK(f.call("x").error->code == errc::too_large);
  REQUIRE(f.server.wait_requests(3));
  CHECK(f.methods().back() == "CancelTask");
}

// -- who is called, and who gets credentials ------------------------------------------------------------------------------
