# hone_precompiled(KIND LIBRARIES...): with HONE_PCH, compiles cmake/precompiled/KIND.h once, for the
# targets that say hone_use_precompiled(TARGET KIND). They must be compiled with the same options.
function(hone_precompiled kind)
  if(NOT HONE_PCH)
    return()
  endif()
  file(CONFIGURE OUTPUT precompiled/${kind}.cc CONTENT "// A target has a source.\n")
  add_library(hone_precompiled_${kind} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/precompiled/${kind}.cc)
  target_link_libraries(hone_precompiled_${kind} PRIVATE hone_warnings ${ARGN})
  target_compile_options(hone_precompiled_${kind} PRIVATE ${hone_cached_precompiled})
  target_precompile_headers(hone_precompiled_${kind} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/precompiled/${kind}.h)
endfunction()
function(hone_use_precompiled target kind)
  if(NOT HONE_PCH)
    return()
  endif()
  target_compile_options(${target} PRIVATE ${hone_cached_precompiled})
  target_precompile_headers(${target} REUSE_FROM hone_precompiled_${kind})
endfunction()
# What ccache asks for.
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  set(hone_cached_precompiled "SHELL:-Xclang -fno-pch-timestamp")
else()
  set(hone_cached_precompiled -fpch-preprocess)
endif()

# hone_use_unity(TARGET): with HONE_UNITY, compiles twelve sources as one: no two of them may have a local
# name in common.
function(hone_use_unity target)
  if(NOT HONE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
  # To g++ an included source is a header, whose local types nothing with linkage may have.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# hone_library(FOLDER DEPENDS a b LIBRARIES x y): the static library of src/FOLDER (sources directly
# in it and, with SUBFOLDERS, below it). DEPENDS are other folders of src/; they may only point down
# (tests/architecture checks it), LIBRARIES come from outside.
function(hone_library folder)
  cmake_parse_arguments(ARG "SUBFOLDERS" "" "DEPENDS;LIBRARIES" ${ARGN})
  string(REPLACE "/" "_" name hone_${folder})
  if(ARG_SUBFOLDERS)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cc)
  else()
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${folder}/*.cc)
  endif()
  if(sources)
    add_library(${name} STATIC ${sources})
    set(scope PUBLIC)
    target_link_libraries(${name} PRIVATE hone_warnings)
    hone_use_precompiled(${name} libraries)
    hone_use_unity(${name})
  else()
    add_library(${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${name} ${scope} ${CMAKE_SOURCE_DIR}/src)
  foreach(dependency ${ARG_DEPENDS})
    string(REPLACE "/" "_" dependency ${dependency})
    target_link_libraries(${name} ${scope} hone_${dependency})
  endforeach()
  target_link_libraries(${name} ${scope} ${ARG_LIBRARIES})
endfunction()

# hone_embed(FOLDER HEADER FUNCTION FILES...): FUNCTION, declared in src/HEADER, gives the files as text.
function(hone_embed folder header function)
  string(REPLACE "/" "_" name hone_${folder})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}_files.cc)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${header} -DFUNCTION=${function} "-DFILES=${ARGN}"
      -P ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake
    DEPENDS ${ARGN} ${CMAKE_SOURCE_DIR}/cmake/EmbedFiles.cmake VERBATIM)
  # A file is one string literal, and may be longer than compilers must take.
  set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  target_sources(${name} PRIVATE ${output})
endfunction()

# hone_test(FOLDER DEPENDS a b [LIBRARIES x] [LABELS l]): one GoogleTest executable of tests/FOLDER/*_test.cc.
# MANUAL: built, but run by hand only. WHOLE: ctest runs it as one test, not one for each TEST.
# SERIAL: no other test runs beside one of these. ALONE f: beside one that GoogleTest's filter f is for;
# of the folder's others one at a time, beside other folders'. These begin first and those that are WHOLE next
# (COST): what is long and begins last has nothing beside it.
# Those labelled "compiler" are left out without HONE_COMPILER_TESTS.
function(hone_test folder)
  cmake_parse_arguments(ARG "SERIAL;MANUAL;WHOLE" "ALONE" "DEPENDS;LIBRARIES;LABELS" ${ARGN})
  if(NOT HONE_COMPILER_TESTS AND ("compiler" IN_LIST ARG_LABELS OR ARG_MANUAL))
    return()
  endif()
  if((HONE_TEST_FOLDERS AND NOT folder IN_LIST HONE_TEST_FOLDERS) OR folder IN_LIST HONE_TEST_NOT_FOLDERS)
    return()
  endif()
  string(REPLACE "/" "_" name test_${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*.cc)
  if(NOT sources)
    return()
  endif()
  add_executable(${name} ${sources})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_compile_definitions(${name} PRIVATE HONE_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE hone_warnings GTest::gmock GTest::gtest_main ${ARG_LIBRARIES})
  hone_use_precompiled(${name} tests)
  hone_use_unity(${name})
  foreach(dependency ${ARG_DEPENDS})
    string(REPLACE "/" "_" dependency ${dependency})
    target_link_libraries(${name} PRIVATE hone_${dependency})
  endforeach()
  if(ARG_MANUAL)
    return()
  endif()
  # What hone keeps for its user (src/store/seal.h) is the tests' own.
  set(properties TIMEOUT 300 ENVIRONMENT "XDG_STATE_HOME=${CMAKE_BINARY_DIR}/state")
  if(ARG_SERIAL)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  if(ARG_LABELS)  # an empty value would be dropped, and the next word taken for it
    list(APPEND properties LABELS "${ARG_LABELS}")
  endif()
  if(ARG_WHOLE)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES ${properties} COST 50)
    return()
  endif()
  if(ARG_ALONE)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER "${ARG_ALONE}" TEST_LIST ${name}_alone
      PROPERTIES ${properties} RUN_SERIAL TRUE)
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 TEST_FILTER "-${ARG_ALONE}" TEST_LIST ${name}_others
      PROPERTIES ${properties} RESOURCE_LOCK ${name} COST 100)
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES ${properties})
endfunction()
