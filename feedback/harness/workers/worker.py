"""Calls a Python function on inputs and counts what it executes.

Arguments: module (or a file that ends in .py), function, "text" or "bytes", "executed", "nothing" or "samples" (see
`Counting` in src/languages/subject.rs), "words", "expressions" or "nothing" (what it tells), further modules whose code
is counted. The harness says the length of an input that it has put into shared memory; see src/languages/protocol.rs
for the rest. `own_code` and `count_executed` are those of counting.py, `compared_constants` is that of constants.py,
`record_expressions` is that of expressions.py: these files precede this one in the program.
"""

import sys


def main():
    import faulthandler
    import gc
    import io
    import mmap
    import os
    import resource
    import signal
    import struct
    import traceback

    INPUT, COUNTERS, REQUESTS, ANSWERS = 195, 196, 198, 199
    READY, WORDS, EXPRESSION, REFUSED, EDGE, DONE = b"R", b"W", b"P", b"X", b"E", b"D"
    RETURNED, EXITED, RAISED, NO_MEMORY = 0, 1, 2, 3
    module_name, function_name, kind, counting, telling, *further = sys.argv[1:]
    for descriptor in (INPUT, COUNTERS, REQUESTS, ANSWERS):
        os.set_inheritable(descriptor, False)
    process = os.getpid()
    counters = memoryview(mmap.mmap(COUNTERS, 0)).cast("Q")
    inputs = mmap.mmap(INPUT, 0, access=mmap.ACCESS_READ)

    def answer(kind, payload):
        os.write(ANSWERS, kind + struct.pack("=I", len(payload)) + payload)

    def refuse(message):
        answer(REFUSED, message.encode("utf-8", "replace")[:3000])
        os._exit(0)

    # Of several values each with an end of its own.
    def joined(*values):
        return b"\0".join(str(value).encode("utf-8", "replace")[:900].replace(b"\0", b"?") for value in values)

    def load():
        import importlib
        import importlib.machinery

        def imported(name):
            try:
                return importlib.import_module(name)
            except ModuleNotFoundError as error:
                if error.name and (name + ".").startswith(error.name + "."):
                    refuse("there is no module `%s` in %s" % (error.name, os.pathsep.join(sys.path) or "sys.path"))
                raise

        try:
            is_file = module_name.endswith(".py")
            sys.path[0] = os.path.dirname(os.path.abspath(module_name)) if is_file else os.getcwd()
            for name in further:
                loading = name
                module = imported(name)
                file = getattr(module, "__file__", None)
                spec = getattr(module, "__spec__", None)
                # Frozen code does not say which file it is from.
                is_frozen = getattr(spec, "origin", None) == "frozen"
                if is_frozen or not file or file.endswith(tuple(importlib.machinery.EXTENSION_SUFFIXES)):
                    refuse("the module `%s` has no code in Python that can be counted" % name)
                name_counted(module)
            loading = module_name
            if is_file:
                if not os.path.isfile(module_name):
                    refuse("there is no file %s" % os.path.abspath(module_name))
                import importlib.util

                file = os.path.abspath(module_name)
                name = os.path.basename(file)[:-3]
                spec = importlib.util.spec_from_file_location(name, file)
                module = importlib.util.module_from_spec(spec)
                sys.modules[name] = module
                spec.loader.exec_module(module)
            else:
                module = imported(module_name)
                name_both(sys.modules.get(module_name.partition(".")[0], module))
        except BaseException as error:
            message = traceback.format_exception_only(type(error), error)[-1].strip()
            refuse("the module `%s` failed when it was imported: %s" % (loading, message))
        name_both(module)
        value = module
        for part in function_name.split("."):
            if not hasattr(value, part):
                refuse("the module `%s` has no function `%s`" % (module_name, function_name))
            value = getattr(value, part)
        if not callable(value):
            refuse("`%s` of the module `%s` cannot be called" % (function_name, module_name))
        return value

    own, name_own = own_code()
    # Exceptions are told apart by the subject's own code, whatever else is counted.
    counted, name_counted = own_code()

    def name_both(module):
        name_own(module)
        name_counted(module)

    # Edges get numbers as they are first executed. 0 takes what there is no room for.

    numbers = {}

    def number_of(code, line, mark):
        name = getattr(code, "co_qualname", code.co_name)
        key = joined(code.co_filename, name, "%d %s" % (code.co_firstlineno, mark))
        number = numbers.get(key)
        if number is None:
            number = len(numbers) + 1
            if number >= len(counters):
                return 0
            numbers[key] = number
            answer(EDGE, struct.pack("=II", number, line or code.co_firstlineno) + key)
        return number

    # The harness asks where a call hangs (src/languages/stack.rs). This answers also while code in C runs.
    faulthandler.register(signal.SIGRTMAX - 3, file=os.dup(2), all_threads=False)

    # Microseconds of processor time by the line of the counted code that runs, or that calls what runs. The handler
    # runs between two instructions, so what a call into the interpreter's own code takes belongs to the line of the
    # call.
    def count_samples():
        import time

        last = [0.0]
        clock = time.thread_time

        def sample(_, frame):
            now = clock()
            spent, last[0] = int(1e6 * (now - last[0])), now
            while frame is not None and not counted(frame.f_code.co_filename):
                frame = frame.f_back
            if frame is not None:
                counters[number_of(frame.f_code, frame.f_lineno, "sample %d" % frame.f_lineno)] += spent

        def start():
            last[0] = clock()
            signal.setitimer(signal.ITIMER_PROF, 0.001, 0.001)

        signal.signal(signal.SIGPROF, sample)
        return start, lambda: signal.setitimer(signal.ITIMER_PROF, 0)

    # The frame of the subject's own code in which it was raised.
    def place_of(trace):
        found = ""
        while trace is not None:
            code = trace.tb_frame.f_code
            if own(code.co_filename):
                found = "%s:%s (%s)" % (code.co_filename, trace.tb_lineno, getattr(code, "co_qualname", code.co_name))
            trace = trace.tb_next
        return found

    def class_name(kind):
        name = getattr(kind, "__qualname__", "") or kind.__name__
        module = kind.__module__
        return name if module in ("builtins", "__main__") else "%s.%s" % (module, name)

    # The classes that it descends from, the nearest first.
    def parents_of(error):
        return [class_name(kind) for kind in type(error).__mro__[1:-1]][:32]

    def exit_status(code):
        if code is None:
            return 0
        if isinstance(code, int):
            return code & 255
        print(code, file=stderr)
        return 1

    # Waits for threads as the interpreter does before it ends; whether some are left, which the next run would find.
    def threads_are_left():
        threading = sys.modules.get("threading")
        if threading is not None:
            for thread in threading.enumerate():
                if thread is not threading.current_thread() and not thread.daemon:
                    thread.join()
        return count_threads() > 0

    def flushed(stream):
        try:
            stream.flush()
            return not stream.closed
        except Exception:
            return False

    import _thread

    count_threads = _thread._count
    stdout, stderr, stdin = sys.stdout, sys.stderr, sys.stdin
    if isinstance(stderr, io.TextIOWrapper):
        stderr.reconfigure(line_buffering=False)
    usage = resource.getrusage
    itself = resource.RUSAGE_SELF
    sys.argv[:] = [module_name]
    before = set(sys.modules)
    listed = record_expressions(counted) if telling == "expressions" else None
    function = load()
    flushed(stdout), flushed(stderr)
    if telling == "words":
        # The function's own module comes first. What the interpreter loads whatever it runs has no part in it.
        first = sys.modules.get(getattr(function, "__module__", None))
        modules = [module for name, module in list(sys.modules.items()) if name not in before and module is not first]
        words = compared_constants([first, *modules], counted)
        answer(WORDS, b"".join(bytes([len(word)]) + word for word in words))
    if telling == "expressions":
        loaded = [module for name, module in list(sys.modules.items()) if name not in before]
        for pattern, flags in listed([sys.modules.get(getattr(function, "__module__", None)), *loaded]):
            body = b"%s/%s" % (flags.encode(), pattern.encode("utf-8", "replace"))
            answer(EXPRESSION, body)
    if counting == "executed":
        start, stop, _ = count_executed(counters, number_of, counted)
    elif counting == "samples":
        start, stop = count_samples()
    else:
        start = stop = lambda: None
    gc.collect()
    gc.freeze()
    takes_text = kind == "text"

    # One run: how it ended, the status, and of an exception its class, its frame and the classes that it descends from.
    def run(data):
        try:
            try:
                start()
                function(data)
            finally:
                stop()
        except SystemExit as error:
            return EXITED, exit_status(error.code), ()
        except MemoryError:
            return NO_MEMORY, 0, ()
        except BaseException as error:
            name = class_name(type(error))
            place = place_of(error.__traceback__)
            try:
                print("%s: %s" % (name, str(error)[:1000]), file=sys.stderr)
            except BaseException:
                pass
            return RAISED, 0, (name, place, *parents_of(error))
        return RETURNED, 0, ()

    answer(READY, b"")
    while True:
        request = os.read(REQUESTS, 4)
        if len(request) != 4:
            os._exit(0)
        data = inputs[: struct.unpack("=I", request)[0]]
        if takes_text:
            data = data.decode("utf-8", "replace")
        before = usage(itself)
        ended, status, raised = run(data)
        data = None
        if os.getpid() != process:
            flushed(sys.stdout), flushed(sys.stderr)
            os._exit(status if ended == EXITED else 0 if ended == RETURNED else 1)
        is_spent = count_threads() > 0 and threads_are_left()
        flushed(sys.stdout), flushed(sys.stderr)
        sys.stdout, sys.stderr, sys.stdin = stdout, stderr, stdin
        is_spent |= not flushed(stdout) or not flushed(stderr)
        after = usage(itself)
        times = [int(1e6 * (after[field] - before[field])) for field in (0, 1)]
        answer(DONE, struct.pack("=BBiQQ", ended, is_spent, status, *times) + joined(*raised))


main()
