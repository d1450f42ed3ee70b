# Generated code as a part of a CMake build.
#
#   torchgen_lite_generate(
#     TARGET <target>          the library that is made from the outputs
#     OUTPUTS <variable>       receives the absolute paths of all outputs
#     [SCHEMA <file>...]       instead of the schema files that the configuration names
#     [GENERATE <name>...]     instead of the torchgen-lite targets that it names, such as cpp-torch
#     [OUTPUT_DIR <folder>])   instead of its output folder
#
# Paths are relative to the current source folder, and the configuration is the one that governs it
# (pyproject.toml or torchgen_lite.toml). At configure time this asks which files there will be; at build
# time it runs `torchgen-lite generate` whenever a schema, the configuration or a template is newer than
# the last run. An output whose text stays the same keeps its time, so only what changed is compiled.
#
# TORCHGEN_LITE_COMMAND is the command to run, a list; by default the program `torchgen-lite`.

# 3.20 knows DEPFILE for makefiles too.
cmake_minimum_required(VERSION 3.20)

function(torchgen_lite_generate)
  cmake_parse_arguments(
    PARSE_ARGV 0 arg "" "TARGET;OUTPUTS;OUTPUT_DIR" "SCHEMA;GENERATE")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR
      "torchgen_lite_generate: cannot read ${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT arg_TARGET OR NOT arg_OUTPUTS)
    message(FATAL_ERROR "torchgen_lite_generate needs TARGET and OUTPUTS")
  endif()
  if(NOT TARGET ${arg_TARGET})
    message(FATAL_ERROR "torchgen_lite_generate: there is no target ${arg_TARGET} yet")
  endif()

  _torchgen_lite_command(command)
  set(options)
  foreach(file IN LISTS arg_SCHEMA)
    list(APPEND options --schema ${file})
  endforeach()
  foreach(name IN LISTS arg_GENERATE)
    list(APPEND options --target ${name})
  endforeach()
  if(arg_OUTPUT_DIR)
    list(APPEND options --output-dir ${arg_OUTPUT_DIR})
  endif()

  # Another schema may make other files, so CMake has to look again when an input changes.
  _torchgen_lite_list(inputs inputs "${command}" "${options}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${inputs}")
  _torchgen_lite_list(outputs outputs "${command}" "${options}")

  set(stamp "${CMAKE_CURRENT_BINARY_DIR}/${arg_TARGET}_torchgen.stamp")
  set(depfile "${stamp}.d")
  add_custom_command(
    OUTPUT "${stamp}"
    # Outputs may be older than what they are made from, which CMake expects of by-products only.
    BYPRODUCTS ${outputs}
    COMMAND ${command} generate ${options} --quiet --depfile "${depfile}" --stamp "${stamp}"
    DEPENDS ${arg_SCHEMA}
    DEPFILE "${depfile}"
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    COMMENT "torchgen-lite generate for ${arg_TARGET}"
    VERBATIM)
  add_custom_target(${arg_TARGET}_torchgen DEPENDS "${stamp}")
  add_dependencies(${arg_TARGET} ${arg_TARGET}_torchgen)
  set(${arg_OUTPUTS} "${outputs}" PARENT_SCOPE)
endfunction()

# The command, found once.
function(_torchgen_lite_command result)
  if(NOT TORCHGEN_LITE_COMMAND)
    find_program(TORCHGEN_LITE_COMMAND torchgen-lite REQUIRED)
  endif()
  set(${result} ${TORCHGEN_LITE_COMMAND} PARENT_SCOPE)
endfunction()

# The absolute paths of what a run with these options reads (`inputs`) or writes (`outputs`).
function(_torchgen_lite_list result kind command options)
  execute_process(
    COMMAND ${command} list ${kind} --output-format cmake ${options}
    WORKING_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}"
    OUTPUT_VARIABLE text
    RESULT_VARIABLE code)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "torchgen-lite list ${kind} failed; it says above why")
  endif()
  cmake_language(EVAL CODE "${text}")
  set(paths)
  string(TOUPPER "${kind}" kind)
  foreach(path IN LISTS TORCHGEN_LITE_${kind})
    get_filename_component(path "${path}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    string(REPLACE ";" "\\;" path "${path}")
    list(APPEND paths "${path}")
  endforeach()
  set(${result} "${paths}" PARENT_SCOPE)
endfunction()
