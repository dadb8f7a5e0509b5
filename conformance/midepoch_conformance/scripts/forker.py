"""The program of a warm interpreter (standard library only; it runs in the loader's Python).

It reads requests from its standard input, one JSON object on each line, imports the modules that a
script needs, and runs the script in a forked copy of itself. It prints the copy's exit status.
"""

import contextlib
import gc
import importlib
import json
import os
import runpy
import sys
import tempfile

__all__ = ["serve"]


def serve() -> None:
    """Run a script for each request, until the requests end."""
    with os.fdopen(os.dup(0), "rb") as requests, os.fdopen(os.dup(1), "w") as answers:
        for line in requests:
            request = json.loads(line)
            for name in request["modules"]:
                # The script itself tells of a module that is missing.
                with contextlib.suppress(Exception):
                    importlib.import_module(name)
            gc.collect()
            gc.freeze()
            pid = os.fork()
            if pid == 0:
                requests.close()
                answers.close()
                _run(request["path"], request["printed"])
            print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), file=answers, flush=True)


def _run(path: str, printed: str) -> None:
    """Run a script as the interpreter's main program does, and exit."""
    folder, status = os.path.dirname(path), 1
    try:
        os.setsid()
        os.chdir(folder)
        for source, flags, targets in ((os.devnull, os.O_RDONLY, (0,)), (printed, _WRITE, (1, 2))):
            fd = os.open(source, flags, 0o600)
            for target in targets:
                os.dup2(fd, target)
            os.close(fd)
        # The files that a script leaves for its reader go with its folder.
        os.environ["TMPDIR"], tempfile.tempdir = folder, None
        sys.argv[:] = [path]
        sys.path.insert(0, folder)
        runpy.run_path(path, run_name="__main__")
        status = 0
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(status)


_WRITE = os.O_WRONLY | os.O_CREAT | os.O_APPEND

if __name__ == "__main__":
    del sys.path[0]  # this file's folder
    serve()
