// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/scenario/scenario.hpp>

namespace troupe {

namespace {

constexpr std::string_view text = R"yaml(# The scenario that plays when no model is configured.
#
# "Survey the workspace" lists the workspace, gives each folder to a subagent made up for it, has the survey reviewed
# where there is a reviewer, and reports. Everything that it says is taken from what the tools found.
rules:
  - name: the survey begins
    match: {turn: 0, text: "(?i)survey the workspace", offers: spawn_subagent}
    latency: {min: 20ms, max: 60ms, seed: 1}
    chunks: 6
    reply:
      think: I look at what is there, then give each folder to a subagent of its own.
      calls:
        - {tool: list_directory, args: {path: "."}}

  - name: one subagent for each folder, and the reviewer
    match: {text: "(?i)survey the workspace", tool: list_directory, offers: reviewer}
    latency: {min: 30ms, max: 80ms, seed: 2}
    chunks: 6
    reply:
      think: "There are {{ count(results.list_directory[-1].entries) }} entries. Each folder can be surveyed on its own, so I do it in parallel."
      calls:
        - tool: spawn_subagent
          for_each: results.list_directory[-1].entries
          where: {type: folder}
          args:
            name: "{{ format('survey_{}_{:slug}', index, item.name) }}"
            goal: "Survey the folder {{ item.path }}"
            tool_names: [glob, grep_search]
        - tool: reviewer
          args:
            request: "Review the plan: survey each of the folders in a workspace of {{ count(results.list_directory[-1].entries) }} entries, and count files, lines and marks."

  - name: one subagent for each folder
    match: {text: "(?i)survey the workspace", tool: list_directory, offers: spawn_subagent}
    latency: {min: 30ms, max: 80ms, seed: 2}
    chunks: 6
    reply:
      think: "There are {{ count(results.list_directory[-1].entries) }} entries. Each folder can be surveyed on its own, so I do it in parallel."
      calls:
        - tool: spawn_subagent
          for_each: results.list_directory[-1].entries
          where: {type: folder}
          args:
            name: "{{ format('survey_{}_{:slug}', index, item.name) }}"
            goal: "Survey the folder {{ item.path }}"
            tool_names: [glob, grep_search]

  - name: a folder is looked at
    match: {turn: 0, text: "Survey the folder (?P<folder>[^\\n]+)", offers: glob}
    latency: {min: 20ms, max: 200ms, seed: 3}
    chunks: 4
    reply:
      think: "I list the files of {{ folder }} and search them for marks."
      calls:
        - {tool: glob, args: {pattern: "**", path: "{{ folder }}"}}
        - {tool: grep_search, args: {pattern: "TODO|FIXME", path: "{{ folder }}"}}

  - name: a folder is reported
    match: {text: "Survey the folder (?P<folder>[^\\n]+)", tool: glob}
    latency: {min: 20ms, max: 200ms, seed: 4}
    chunks: 4
    reply:
      json:
        folder: "{{ folder }}"
        files: "{{ results.glob[-1].total.files }}"
        lines: "{{ results.glob[-1].total.lines }}"
        bytes: "{{ results.glob[-1].total.bytes }}"
        longest: "{{ results.glob[-1].longest.path }}"
        longest_lines: "{{ results.glob[-1].longest.lines }}"
        marks: "{{ results.grep_search[-1].total }}"

  - name: the plan is reviewed
    match: {agent: reviewer, text: "Review the plan"}
    latency: {min: 40ms, max: 120ms, seed: 5}
    chunks: 4
    reply:
      text: The plan is sound. The folders do not depend on each other; compare their counts only when all are there.

  - name: the survey is reported
    match: {text: "(?i)survey the workspace", tool: spawn_subagent}
    latency: {min: 30ms, max: 80ms, seed: 6}
    chunks: 12
    reply:
      think: All subagents have answered. I put their numbers together.
      text:
        - "Survey of {{ count(results.spawn_subagent) }} folders, the largest first:\n"
        - for_each: sort_by(results.spawn_subagent, "result.lines", "desc")
          where: {status: completed}
          line: "{{ format('- {:<16} {:>5} files  {:>7} lines  {:>4} marks  longest: {} ({})', item.result.folder, item.result.files, item.result.lines, item.result.marks, item.result.longest, item.result.longest_lines) }}\n"
        - for_each: results.spawn_subagent
          where: {status: error}
          line: "- {{ item.name }} failed: {{ item.error }}\n"
        - for_each: results.reviewer
          line: "\nThe reviewer: {{ item }}\n"

  - name: a workspace without folders
    match: {text: "(?i)survey the workspace", tool: list_directory}
    reply:
      text: "The workspace has {{ count(results.list_directory[-1].entries) }} entries; subagents are not available here, so this is all that I can tell."

  - name: a task is finished
    match: {offers: finish_task}
    latency: 20ms
    reply:
      think: This embedded model only follows rules, so I finish with what I was asked.
      calls:
        - {tool: finish_task, args: {result: "The embedded scenario model has no rule for: {{ text }}"}}

  - name: anything else
    latency: 20ms
    chunks: 8
    reply:
      text: |
        I am the embedded scenario model: I follow rules and need no key and no network. You said: {{ text }}

        Try "Survey the workspace", or configure a real model in troupe.yaml:

          model: fast
          models:
            fast: {provider: openai, model: qwen3, base_url: "http://127.0.0.1:11434/v1"}
)yaml";

} // namespace

std::string_view builtin_scenario() noexcept {
  return text;
}

} // namespace troupe
