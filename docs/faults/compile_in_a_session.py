"""Compiles a program to its dispatches by IREE's library, with flags of the process and of the session.

usage: compile_in_a_session.py LIBRARY PROGRAM OUTPUT PROCESS_FLAG... -- SESSION_FLAG...
"""
import ctypes
import sys

library, program, output = sys.argv[1:4]
end = sys.argv.index("--")
iree = ctypes.CDLL(library)
handle, by_reference = ctypes.c_void_p, ctypes.byref


def call(name, *arguments):
    function = getattr(iree, f"ireeCompiler{name}")
    function.restype = handle
    return handle(function(*arguments))


def texts(flags):
    return len(flags), (ctypes.c_char_p * len(flags))(*map(str.encode, flags))


call("GlobalInitialize")
call("SetupGlobalCL", *texts(sys.argv[:1] + sys.argv[4:end]), b"", False)
session = call("SessionCreate")
if call("SessionSetFlags", session, *texts(sys.argv[end + 1:])):
    sys.exit("error: a flag is not one of a session")
invocation, source, file = call("InvocationCreate", session), handle(), handle()
call("InvocationEnableConsoleDiagnostics", invocation)
call("SourceOpenFile", session, program.encode(), by_reference(source))
call("InvocationParseSource", invocation, source)
call("InvocationSetCompileToPhase", invocation, b"flow")
call("InvocationPipeline", invocation, 0)
call("OutputOpenFile", output.encode(), by_reference(file))
call("InvocationOutputIR", invocation, file)
call("OutputKeep", file)
call("OutputDestroy", file)
