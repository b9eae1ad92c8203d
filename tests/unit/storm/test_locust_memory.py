"""What Locust keeps of each second is forgotten, and its sums are not."""

from __future__ import annotations

import json
import subprocess
import sys

# In a process of its own: Locust patches the whole standard library when it is imported. An hour of one
# request a second, every tenth of which failed.
_HOUR = """
import json
import time
from locust.stats import RequestStats
from loadtest.locust_memory import forget

stats = RequestStats()
now = time.time()
for second in range(3600):
    time.time = lambda: now + second
    stats.log_request("POST", "leads fresh", 30, 200)
    if second % 10 == 0:
        stats.log_error("POST", "leads fresh", "refused")
stats.history.append({"time": "now"})

def seen():
    entries = (stats.total, stats.entries["leads fresh", "POST"])
    return [
        (len(one.num_reqs_per_sec), len(one.num_fail_per_sec), one.num_requests, one.num_failures,
         one.get_response_time_percentile(0.5))
        for one in entries
    ] + [len(stats.history)]

before = seen()
forget(stats, max(stats.total.num_reqs_per_sec) - 59)
print(json.dumps([before, seen()]))
"""


def test_seconds_that_are_over_are_forgotten_and_the_sums_stay() -> None:
    done = subprocess.run([sys.executable, "-c", _HOUR], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    before, after = json.loads(done.stdout)
    assert before == [[3600, 360, 3600, 360, 30]] * 2 + [1], "what would grow for as long as a storm runs"
    assert after == [[60, 6, 3600, 360, 30]] * 2 + [0]
