"""Counts what Python code executes: branches and calls, or lines before Python 3.12.

Holds two functions, which import what they need, as it precedes a program in the same module.
"""


def own_code():
    """Which code is counted: all but the standard library's, and what is named of that.

    Returns a function that says whether a file has such code, and one that names a module.
    """
    import os

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

    return own, name_own


def count_executed(counters, number_of, own):
    """Counts into `counters` what code executes that is `own`, by its file.

    `number_of(code, line, mark)` is the number of an edge that is executed for the first time; the mark tells it from
    others of the code. Returns functions for the begin and the end of a run, and one that ends counting.
    """
    import sys

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
        tool = next((tool for tool in (4, 3, 1, 2, 5, 0) if monitoring.get_tool(tool) is None), None)
        if tool is None:
            raise RuntimeError("all six tools of sys.monitoring are in use: end a debugger, profiler or coverage tool")
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

        # Of these, those back to the begin of a loop that tests nothing there, as `while True` does: others come with
        # branches.
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

        callbacks = {events.BRANCH: on_branch, events.JUMP: on_jump, events.PY_START: on_start}

        def end():
            monitoring.set_events(tool, 0)
            for event in callbacks:
                monitoring.register_callback(tool, event, None)
            monitoring.free_tool_id(tool)

        monitoring.use_tool_id(tool, "gramjet")
        for event, callback in callbacks.items():
            monitoring.register_callback(tool, event, callback)
        monitoring.set_events(tool, events.BRANCH | events.JUMP | events.PY_START)
        # What an earlier user of this number has disabled counts, too.
        monitoring.restart_events()
        return (lambda: None), (lambda: None), end

    # Lines, by sys.settrace (before Python 3.12).
    def count_lines():
        tracers = {}
        earlier = [None]
        # The tracer of new threads, once the module is there.
        of_threads = []

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
            threading = sys.modules.get("threading")
            if threading is not None:
                if not of_threads:
                    of_threads.append(getattr(threading, "_trace_hook", None))
                threading.settrace(enter)
            earlier[0] = sys.gettrace()
            sys.settrace(enter)

        def stop():
            sys.settrace(earlier[0])

        def end():
            if of_threads:
                sys.modules["threading"].settrace(of_threads[0])

        return start, stop, end

    return count_branches() if hasattr(sys, "monitoring") else count_lines()


