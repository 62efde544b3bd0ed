"""Runs compiled programs one after the other under IREE's runtime, for as long as its parent asks.

The device is opened and files of weights are mapped once; each request loads its module anew, so that where its memory
lies is drawn anew, and times calls of it, or writes what one call returns. Lines of JSON travel over the socket at
descriptor 3: one from here when all is ready, then an answer for each request
(src/provider/iree/compiler/runtime_tools.h).
"""
import gc
import json
import random
import socket
import sys
import time

# Warm-up as in iree-benchmark-module: cold first calls are not timed.
WARM_UP_SECONDS = 0.02
# Largest random gap, both in pages and in the contents of the heap.
MOST_GAP_BYTES = 1 << 20


class Programs:
    """`settings`: "device", as the tools have it; "flags" of the process; "parameters", as SCOPE=FILE."""

    def __init__(self, settings):
        from iree.runtime import _binding
        self.iree = _binding
        if settings["flags"]:
            _binding.parse_flags(*settings["flags"])
        self.instance = _binding.VmInstance()
        uri = settings["device"]
        self.device = _binding.get_cached_hal_driver(uri.split(":")[0]).create_device_by_uri(uri)
        indices = {}
        for each in settings["parameters"]:
            scope, _, file = each.rpartition("=")
            indices.setdefault(scope, _binding.ParameterIndex()).load(file)
        providers = [index.create_provider(scope=scope) for scope, index in indices.items()]
        self.parameters = [_binding.create_io_parameters_module(self.instance, *providers)] if providers else []

    def argument(self, file):
        import numpy
        from iree.runtime.array_interop import map_dtype_to_element_type
        array = numpy.load(file)
        # NumPy has no bf16: its elements are raw there.
        kind = (self.iree.HalElementType.BFLOAT_16 if array.dtype.str == "|V2"
                else map_dtype_to_element_type(array.dtype))
        buffer = self.device.allocator.allocate_buffer_copy(
            memory_type=self.iree.MemoryType.DEVICE_LOCAL,
            allowed_usage=self.iree.BufferUsage.DEFAULT | self.iree.BufferUsage.MAPPING,
            device=self.device, buffer=numpy.ascontiguousarray(array).view(numpy.uint8).reshape(-1))
        return self.iree.HalBufferView(buffer, array.shape, int(kind))

    def load(self, request):
        """A context of the module, its function, and the arguments."""
        hal = self.iree.create_hal_module(self.instance, self.device)
        module = self.iree.VmModule.mmap(self.instance, request["module"])
        context = self.iree.VmContext(self.instance, [hal, *self.parameters, module])
        function = module.lookup_function(request["function"])
        if function is None:
            raise ValueError(f"the module has no function '{request['function']}'")
        arguments = self.iree.VmVariantList(len(request["inputs"]))
        for file in request["inputs"]:
            arguments.push_ref(self.argument(file))
        return context, function, arguments

    def call(self, request):
        """Calls the function once and writes each result to its file."""
        import numpy
        from iree.runtime.array_interop import DeviceArray
        context, function, arguments = self.load(request)
        results = self.iree.VmVariantList(len(request["results"]))
        context.invoke(function, arguments, results)
        for index, file in enumerate(request["results"]):
            view = results.get_as_object(index, self.iree.HalBufferView)
            numpy.save(file, DeviceArray(self.device, view).to_host())
            self.spoil(view.get_buffer())
        return {}

    def spoil(self, buffer):
        """Overwrites a result, lest a later module that gets its memory and writes nothing seem right."""
        import numpy
        garbage = self.device.allocator.allocate_buffer_copy(
            memory_type=self.iree.MemoryType.DEVICE_LOCAL, allowed_usage=self.iree.BufferUsage.DEFAULT,
            device=self.device, buffer=numpy.full(buffer.byte_length(), 0xFF, numpy.uint8))
        semaphore = self.device.create_semaphore(0)
        fence = self.iree.HalFence.create_at
        self.device.queue_copy(garbage, buffer, wait_semaphores=fence(semaphore, 0),
                               signal_semaphores=fence(semaphore, 1))
        fence(semaphore, 1).wait()

    def time(self, request):
        """Seconds per call, the mean over calls that together take about as long as is asked for."""
        # A random gap moves each module: the process reuses freed memory, so modules would all lie
        # in the same place.
        gap = bytearray(random.randrange(MOST_GAP_BYTES))
        context, function, arguments = self.load(request)

        def call_for(seconds):
            calls, begin = 0, time.perf_counter()
            while True:
                context.invoke(function, arguments, self.iree.VmVariantList(1))
                calls += 1
                took = time.perf_counter() - begin
                if took >= seconds:
                    return calls, took

        call_for(WARM_UP_SECONDS)
        calls, took = call_for(request["seconds"])
        del gap
        return {"seconds": took / calls, "calls": calls}


def main():
    parent = socket.socket(fileno=3)
    lines, answers = parent.makefile("r", encoding="utf-8"), parent.makefile("w", encoding="utf-8")

    def answer(what):
        answers.write(json.dumps(what) + "\n")
        answers.flush()

    try:
        programs = Programs(json.loads(sys.argv[1]))
    except Exception as error:  # pylint: disable=broad-except
        answer({"error": f"{type(error).__name__}: {error}"})
        return
    # Collected between requests, which is not timed.
    gc.disable()
    answer({})
    for line in lines:
        try:
            request = json.loads(line)
            what = programs.call(request) if "results" in request else programs.time(request)
        except Exception as error:  # pylint: disable=broad-except
            what = {"error": f"{type(error).__name__}: {error}"}
        gc.collect()  # ends what the request has loaded before the next is loaded
        answer(what)


if __name__ == "__main__":
    main()
