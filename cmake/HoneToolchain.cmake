# Warnings for hone's own code, sanitizers for everything, and a release binary that stands alone.
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

find_program(CCACHE ccache)
if(CCACHE)
  # Files with a precompiled header are cached only when told that this is meant.
  set(CMAKE_C_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_C_COMPILER_LAUNCHER})
endif()

add_library(hone_warnings INTERFACE)
target_compile_options(hone_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion $<$<BOOL:${HONE_WERROR}>:-Werror>)

# An empty optional or an index beyond the end stops every build but the release.
add_compile_definitions($<$<NOT:$<CONFIG:Release>>:_GLIBCXX_ASSERTIONS>)

# g++ collects garbage from 128 MB on, where a source of hone takes ten times that. From 600 MB on it takes 0.73
# to 0.89 of the time (three unity sources, one run each), and at most 1.3 GB in place of 1.1.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(--param=ggc-min-heapsize=600000 --param=ggc-min-expand=100)
endif()

if(HONE_SANITIZE)
  add_compile_options(-fsanitize=${HONE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HONE_SANITIZE})
else()
  # The binary is copied to machines that have no matching libstdc++.
  add_link_options(-static-libstdc++ -static-libgcc)
  # What nothing uses is left out, and with it what it would ask of glibc: libstdc++'s random_device comes
  # along with other things, and wants arc4random of glibc 2.36.
  add_link_options(-Wl,--gc-sections)
endif()
if(HONE_COVERAGE)
  add_compile_options(--coverage -fprofile-update=atomic)
  add_link_options(--coverage -Wl,--wrap=_exit)  # coverage_exit.cc
endif()
