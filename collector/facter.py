"""Runs a collector of the Python suil: one subclass of `Facter` with `collect()`.

Gets the collector's file as its argument and the public config as JSON on stdin; prints what `collect()` returns
as JSON. Nothing of the Python suil is needed on the node: `suil.sdk` is made here.
"""

import json
import os
import sys
import types


class Config(dict):
    """The public config: a mapping whose keys are attributes too."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError("the config has no %r" % name) from None


def attributes(value):
    if isinstance(value, dict):
        return Config((key, attributes(item)) for key, item in value.items())
    if isinstance(value, list):
        return [attributes(item) for item in value]
    return value


class Facter:
    """What collectors inherit from. `collect()` returns the facts, as anything that JSON can say."""

    def __init__(self, config=None):
        self.config = config if config is not None else Config()

    def collect(self):
        raise NotImplementedError("%s has no collect()" % type(self).__name__)


def subclasses(kind):
    for child in kind.__subclasses__():
        yield child
        for grandchild in subclasses(child):
            yield grandchild


def main():
    # What a collector prints by itself is noise; the answer alone goes to stdout.
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    config = attributes(json.load(sys.stdin))
    suil, sdk = types.ModuleType("suil"), types.ModuleType("suil.sdk")
    suil.sdk, sdk.Facter, suil.__path__ = sdk, Facter, []
    sys.modules["suil"], sys.modules["suil.sdk"] = suil, sdk

    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    module = types.ModuleType("collector")
    module.__file__ = path
    sys.modules["collector"] = module
    exec(code, module.__dict__)

    found = [child for child in subclasses(Facter) if not child.__subclasses__()]
    if len(found) != 1:
        names = ", ".join(sorted(child.__name__ for child in found)) or "none"
        sys.exit("expected one subclass of Facter, found %s" % names)
    kind = found[0]
    collector = kind.__new__(kind)
    collector.config = config
    try:
        kind.__init__(collector, config)
    except TypeError:
        kind.__init__(collector)
    json.dump(collector.collect(), answer, ensure_ascii=False)
    answer.write("\n")
    answer.flush()


main()
