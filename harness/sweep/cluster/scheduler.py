"""The scheduler of a Dask cluster: reached, with workers of this very version, and on machines that may have the texts.

Dask itself runs what it is sent and reads Python objects from all its machines, so a cluster is made of trusted ones.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Sequence
from contextlib import closing
from urllib.parse import urlsplit

from corpora.model.corpus import Dataset
from corpora.model.entry import AnyEntry
from harness.core.failures import HarnessError, UsageError
from harness.core.installation import install_line
from harness.core.version import VERSION
from harness.privacy import require_sending
from harness.setup.plan import Plan
from harness.sweep.expansion import SweepCell

try:
    import dask
    from distributed import Client, Security
    from distributed.core import connect, send_recv

    from harness.sweep.cluster.remote import greet
except ImportError:
    raise UsageError(
        "Workers elsewhere are reached by the library Dask, which is not installed here. Install it beside the program, "
        f"and on each worker: {install_line('distributed')}"
    ) from None

CONNECT_SECONDS = 5.0
MOST_NAMED = 3  # Workers that a message names


def checked_address(address: str) -> str:
    """Return the address of a scheduler; UsageError where it is none."""
    try:
        parts = urlsplit(address)
        whole = parts.scheme in {"tcp", "tls"} and parts.hostname and parts.port
    except ValueError:
        whole = None
    if not whole or parts.path.strip("/") or parts.query or parts.username is not None:
        raise UsageError(
            f"{address[:80]!r} is no address of a Dask scheduler. Write it as `dask scheduler` prints it, such as "
            "tcp://192.168.1.5:8786."
        )
    return address.rstrip("/")


def connected(address: str) -> Client:
    """Connect to a scheduler; HarnessError where none is there. The caller closes what is returned."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said by us
    dask.config.set({"distributed.comm.timeouts.connect": CONNECT_SECONDS})
    try:  # a client of Dask waits for minutes where somebody else listens
        asyncio.run(asyncio.wait_for(_greeted(address), CONNECT_SECONDS))
        return Client(address, timeout=CONNECT_SECONDS, set_as_default=False, name="rosetta")
    except Exception as error:
        raise HarnessError(
            f"There is no Dask scheduler at {address} ({type(error).__name__}). Start one with `dask scheduler`, or "
            "correct the address. Nothing was begun."
        ) from error


async def _greeted(address: str) -> None:
    """Check who listens at an address; whatever is raised, it is no scheduler. What another program says is read as Dask's lengths, so any error can come."""
    parts = urlsplit(address)
    _, writer = await asyncio.open_connection(parts.hostname, parts.port)  # Dask tries again where nobody listens
    writer.close()
    args = Security().get_connection_args("client")
    comm = await connect(address, timeout=CONNECT_SECONDS, **args)
    try:
        identity = await send_recv(comm, op="identity")
    finally:
        comm.abort()
    if identity.get("type") != "Scheduler":
        raise ValueError(identity.get("type"))


def require_cluster(address: str, cells: Sequence[SweepCell]) -> str:
    """Check whether the runs of a sweep can go to the workers of a scheduler, and return its address; nothing is begun yet.

    HarnessError where no scheduler or no worker is there, or one has another version of this program; UsageError where
    texts may not go there.
    """
    address = checked_address(address)
    with closing(connected(address)) as client:
        # Addresses of all workers; HarnessError where there is none, or one of another version.
        from_workers = client.run(greet, on_error="return")
        if not from_workers:
            raise HarnessError(
                f"The scheduler at {address} has no workers. Start one with `dask worker {address}`. Nothing was begun."
            )
        others = {
            worker: from_worker.decode("ascii", "replace")[:20] if isinstance(from_worker, bytes) else ""
            for worker, from_worker in from_workers.items()
            if from_worker != VERSION.encode()
        }
        if others:
            named = ", ".join(
                f"{worker} has {version or 'none that can be used'}"
                for worker, version in sorted(others.items())[:MOST_NAMED]
            )
            raise HarnessError(
                f"Every worker must have Rosetta {VERSION}, as here: {named}. Install it there, or end that worker. Nothing was "
                "begun."
            )
        workers = list(from_workers)
    seen: set[object] = set()
    for cell in cells:
        plan, corpus = cell.request.plan, cell.request.corpus
        if (key := (cell.request.positions, plan.run.may_send, plan.run.offline)) not in seen:
            seen.add(key)
            require_terms_of(corpus.dataset, cell.request.entries, plan, [address, *workers])
    return address


def require_terms_of(dataset: Dataset, entries: Sequence[AnyEntry], plan: Plan, addresses: Iterable[str]) -> None:
    """Raise UsageError where texts of these entries may not go to machines of a cluster."""
    if any(entry.secret for entry in entries):
        raise UsageError("Secret entries go to no worker: begin each such run here.")
    if plan.run.offline:
        raise UsageError("--offline is on, and workers of a cluster are other machines. Leave one of them out.")
    for address in addresses:
        parts = urlsplit(address)
        host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
        require_sending(dataset, entries, f"http://{host}:{parts.port}", plan.run.may_send)
