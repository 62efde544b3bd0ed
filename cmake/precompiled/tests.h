// What most tests include from outside.
#pragma once
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "libraries.h"
