#include "provider/iree/onnx_import.h"

#include <gtest/gtest.h>

namespace hone::iree {
namespace {

TEST(OnnxImport, ItsErrorIsSaidWithoutTheWayToIt) {
  EXPECT_EQ(error_in_traceback("Traceback (most recent call last):\n"
                               "  File \"a.py\", line 1, in <module>\n"
                               "    f()\n"
                               "    ^^^\n"
                               "onnx.ValidationError: No Op registered for Foo\n"
                               "\n"
                               "==> Context: Bad node spec for node. Name:  OpType: Foo\n"),
            "onnx.ValidationError: No Op registered for Foo\n"
            "==> Context: Bad node spec for node. Name:  OpType: Foo");
  EXPECT_EQ(error_in_traceback("killed\n"), "killed\n");
  EXPECT_EQ(error_in_traceback(""), "");
}

}  // namespace
}  // namespace hone::iree
