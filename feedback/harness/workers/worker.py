"""Calls a Python function on inputs and counts what it executes.

Arguments: module (or a file that ends in .py), function, "text" or "bytes", further modules whose code is counted.
The harness says the length of an input that it has put into shared memory; see src/languages/protocol.rs for the rest.
"""

import sys


def main():
    import gc
    import io
    import mmap
    import os
    import resource
    import struct
    import traceback

    INPUT, COUNTERS, REQUESTS, ANSWERS = 195, 196, 198, 199
    READY, REFUSED, EDGE, DONE = b"R", b"X", b"E", b"D"
    RETURNED, EXITED, RAISED, NO_MEMORY = 0, 1, 2, 3
    module_name, function_name, kind, *further = sys.argv[1:]
    for descriptor in (INPUT, COUNTERS, REQUESTS, ANSWERS):
        os.set_inheritable(descriptor, False)
    process = os.getpid()
    counters = memoryview(mmap.mmap(COUNTERS, 0)).cast("I")
    inputs = mmap.mmap(INPUT, 0, access=mmap.ACCESS_READ)

    def answer(kind, payload):
        os.write(ANSWERS, kind + struct.pack("=I", len(payload)) + payload)

    def refuse(message):
        answer(REFUSED, message.encode("utf-8", "replace")[:3000])
        os._exit(0)

    # Of several values each with an end of its own.
    def joined(*values):
        return b"\0".join(str(value).encode("utf-8", "replace")[:900].replace(b"\0", b"?") for value in values)

    # The code that is counted: all but the standard library's, and what the arguments name of that.

    standard = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
    installed = tuple(standard + name + os.sep for name in ("site-packages", "dist-packages"))
    named = []
    is_known_own = {}

    def own(file):
        result = is_known_own.get(file)
        if result is None:
            real = os.path.realpath(file)
            is_code = not file.startswith("<") and os.path.exists(real)
            is_standard = real.startswith(standard) and not real.startswith(installed)
            result = is_code and (not is_standard or real.startswith(tuple(named)))
            is_known_own[file] = result
        return result

    def name_own(module):
        file = getattr(module, "__file__", None)
        if file:
            is_package = hasattr(module, "__path__")
            named.append(os.path.realpath(os.path.dirname(file)) + os.sep if is_package else os.path.realpath(file))

    def load():
        import importlib

        def imported(name):
            try:
                return importlib.import_module(name)
            except ModuleNotFoundError as error:
                if error.name and (name + ".").startswith(error.name + "."):
                    refuse("there is no module `%s` in %s" % (error.name, os.pathsep.join(sys.path) or "sys.path"))
                raise

        try:
            for name in further:
                name_own(imported(name))
            if module_name.endswith(".py"):
                if not os.path.isfile(module_name):
                    refuse("there is no file %s" % os.path.abspath(module_name))
                import importlib.util

                file = os.path.abspath(module_name)
                sys.path[0] = os.path.dirname(file)
                name = os.path.basename(file)[:-3]
                spec = importlib.util.spec_from_file_location(name, file)
                module = importlib.util.module_from_spec(spec)
                sys.modules[name] = module
                spec.loader.exec_module(module)
            else:
                sys.path[0] = os.getcwd()
                module = imported(module_name)
                name_own(sys.modules.get(module_name.partition(".")[0], module))
        except BaseException as error:
            message = traceback.format_exception_only(type(error), error)[-1].strip()
            refuse("the module `%s` failed when it was imported: %s" % (module_name, message))
        name_own(module)
        value = module
        for part in function_name.split("."):
            if not hasattr(value, part):
                refuse("the module `%s` has no function `%s`" % (module_name, function_name))
            value = getattr(value, part)
        if not callable(value):
            refuse("`%s` of the module `%s` cannot be called" % (function_name, module_name))
        return value

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

    def count(number):
        try:
            counters[number] += 1
        except ValueError:
            pass  # The greatest count there is.

    def line_of(code, offset):
        for start, end, line in code.co_lines():
            if start <= offset < end:
                return line
        return None

    # Branches and entries, by sys.monitoring (from Python 3.12 on).
    def count_branches():
        monitoring = sys.monitoring
        events, disabled = monitoring.events, monitoring.DISABLE
        tool = next(tool for tool in (4, 3, 1, 2, 5, 0) if monitoring.get_tool(tool) is None)
        known = {}
        kept = []  # So that no other code gets the identity of one that is known.

        def on_branch(code, offset, destination):
            try:
                counters[known[id(code), offset, destination]] += 1
            except KeyError:
                if not own(code.co_filename):
                    return disabled
                kept.append(code)
                line = line_of(code, destination) or line_of(code, offset)
                number = number_of(code, line, "%d>%d" % (offset, destination))
                known[id(code), offset, destination] = number
                count(number)
            except ValueError:
                pass

        # Of these, those back to the begin of a loop that tests nothing there, as `while True` does: others come with branches.
        def on_jump(code, offset, destination):
            try:
                counters[known[id(code), offset, destination]] += 1
            except KeyError:
                if destination > offset or not own(code.co_filename):
                    return disabled
                if opnames[code.co_code[destination]] in ("FOR_ITER", "SEND"):
                    return disabled
                on_branch(code, offset, destination)
            except ValueError:
                pass

        def on_start(code, offset):
            try:
                counters[known[id(code)]] += 1
            except KeyError:
                if not own(code.co_filename):
                    return disabled
                kept.append(code)
                known[id(code)] = number_of(code, code.co_firstlineno, "entry")
                count(known[id(code)])
            except ValueError:
                pass

        from opcode import opname as opnames

        monitoring.use_tool_id(tool, "gramjet")
        monitoring.register_callback(tool, events.BRANCH, on_branch)
        monitoring.register_callback(tool, events.JUMP, on_jump)
        monitoring.register_callback(tool, events.PY_START, on_start)
        monitoring.set_events(tool, events.BRANCH | events.JUMP | events.PY_START)

    # Lines, by sys.settrace (before Python 3.12). What starts to trace, and what stops.
    def count_lines():
        tracers = {}

        def tracer_of(code):
            known = {}

            def trace(frame, event, argument):
                if event == "line":
                    try:
                        counters[known[frame.f_lineno]] += 1
                    except KeyError:
                        line = frame.f_lineno
                        known[line] = number_of(code, line, "%d" % line)
                        count(known[line])
                    except ValueError:
                        pass
                return trace

            return code, trace

        def enter(frame, event, argument):
            code = frame.f_code
            tracer = tracers.get(id(code))
            if tracer is None:
                tracer = tracer_of(code) if own(code.co_filename) else (code, None)
                tracers[id(code)] = tracer
            return tracer[1]

        def start():
            if "threading" in sys.modules:
                sys.modules["threading"].settrace(enter)
            sys.settrace(enter)

        return start, lambda: sys.settrace(None)

    # The frame of the subject's own code in which it was raised.
    def place_of(trace):
        found = ""
        while trace is not None:
            code = trace.tb_frame.f_code
            if own(code.co_filename):
                found = "%s:%s (%s)" % (code.co_filename, trace.tb_lineno, getattr(code, "co_qualname", code.co_name))
            trace = trace.tb_next
        return found

    def class_of(error):
        kind = type(error)
        name = getattr(kind, "__qualname__", "") or kind.__name__
        module = kind.__module__
        return name if module in ("builtins", "__main__") else "%s.%s" % (module, name)

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
    function = load()
    flushed(stdout), flushed(stderr)
    start = stop = None
    if hasattr(sys, "monitoring"):
        count_branches()
    else:
        start, stop = count_lines()
    gc.collect()
    gc.freeze()
    takes_text = kind == "text"

    # One run: how it ended, the status or the class, and the frame.
    def run(data):
        try:
            try:
                if start:
                    start()
                function(data)
            finally:
                if stop:
                    stop()
        except SystemExit as error:
            return EXITED, exit_status(error.code), "", ""
        except MemoryError:
            return NO_MEMORY, 0, "", ""
        except BaseException as error:
            name = class_of(error)
            place = place_of(error.__traceback__)
            try:
                print("%s: %s" % (name, str(error)[:1000]), file=sys.stderr)
            except BaseException:
                pass
            return RAISED, 0, name, place
        return RETURNED, 0, "", ""

    answer(READY, b"")
    while True:
        request = os.read(REQUESTS, 4)
        if len(request) != 4:
            os._exit(0)
        data = inputs[: struct.unpack("=I", request)[0]]
        if takes_text:
            data = data.decode("utf-8", "replace")
        before = usage(itself)
        ended, status, name, place = run(data)
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
        answer(DONE, struct.pack("=BBiQQ", ended, is_spent, status, *times) + joined(name, place))


main()
