"""The exporter's settings: the OTEL_* variables that OpenTelemetry specifies, with its defaults.

Each OTLP option is read from OTEL_EXPORTER_OTLP_TRACES_…, then from OTEL_EXPORTER_OTLP_…. An empty value counts as
unset; a bad one warns and counts as unset. Source: OpenTelemetry specification, "OpenTelemetry Protocol Exporter".
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import NamedTuple, TypeVar
from urllib.parse import urlsplit

from opentelemetry.util.re import parse_env_headers

from tritonscope.settings import log

OTEL_SDK_DISABLED = "OTEL_SDK_DISABLED"
"""`true` sends nothing."""

OTEL_TRACES_EXPORTER = "OTEL_TRACES_EXPORTER"
"""`otlp` or `none`. Default: `otlp`."""

DEFAULT_TIMEOUT_MS = 10_000
_FOR_TRACES = "OTEL_EXPORTER_OTLP_TRACES_"
_FOR_ALL = "OTEL_EXPORTER_OTLP_"
# "0 means no limit; a very long time may stand for it."
_NO_LIMIT_MS = (1 << 31) - 1
# Python's own SDK reads seconds here, so such a value was probably meant for it.
_SUSPICIOUS_MS = 100
_PRINTABLE = re.compile(r"[\x20-\x7e]*")

Value = TypeVar("Value")


class OtlpProtocol(Enum):
    """How spans travel."""

    HTTP = "http/protobuf"
    GRPC = "grpc"


class OtlpSettings(NamedTuple):
    """The settings in force, read once a process.

    `endpoint` is the whole URL for HTTP and a gRPC target otherwise. `insecure` matters only for gRPC.
    """

    enabled: bool
    protocol: OtlpProtocol
    endpoint: str
    insecure: bool
    headers: tuple[tuple[str, str], ...]
    timeout_ms: int
    gzip: bool
    certificate: Path | None
    client_key: Path | None
    client_certificate: Path | None


def read_otlp_settings(environ: Mapping[str, str] = os.environ) -> OtlpSettings:
    """Return the settings that `environ` gives; never raises."""
    protocol = _option(environ, "PROTOCOL", _protocol, OtlpProtocol.HTTP)
    endpoint, insecure = (
        _grpc_endpoint(environ) if protocol is OtlpProtocol.GRPC else (_http_endpoint(environ), False)
    )
    return OtlpSettings(
        enabled=_enabled(environ),
        protocol=protocol,
        endpoint=endpoint,
        insecure=insecure,
        headers=_option(environ, "HEADERS", _headers, ()),
        timeout_ms=_option(environ, "TIMEOUT", _timeout_ms, DEFAULT_TIMEOUT_MS),
        gzip=_option(environ, "COMPRESSION", _gzip, default=False),
        certificate=_option(environ, "CERTIFICATE", _file, None),
        client_key=_option(environ, "CLIENT_KEY", _file, None),
        client_certificate=_option(environ, "CLIENT_CERTIFICATE", _file, None),
    )


def _option(
    environ: Mapping[str, str],
    name: str,
    parse: Callable[[str], Value],
    default: Value,
    prefixes: Sequence[str] = (_FOR_TRACES, _FOR_ALL),
) -> Value:
    """Return the first value that parses; what is wrong with the others is a ValueError's text."""
    for prefix in prefixes:
        text = environ.get(prefix + name, "").strip()
        if not text:
            continue
        try:
            return parse(text)
        except ValueError as error:
            log.warning("%s%s %s: ignored", prefix, name, error)
    return default


def _enabled(environ: Mapping[str, str]) -> bool:
    if environ.get(OTEL_SDK_DISABLED, "").strip().lower() == "true":
        return False
    chosen = {part.strip().lower() for part in environ.get(OTEL_TRACES_EXPORTER, "").split(",")} - {""}
    unknown = chosen - {"otlp", "none"}
    if unknown:
        log.warning(
            "%s: %s not supported; only otlp and none are", OTEL_TRACES_EXPORTER, ", ".join(sorted(unknown))
        )
    return "otlp" in chosen or "none" not in chosen


def _http_endpoint(environ: Mapping[str, str]) -> str:
    """Return the URL: that for traces as it is, the one for all signals with the signal's path appended."""
    own = _option(environ, "ENDPOINT", _url, "", [_FOR_TRACES])
    if own:
        return own if urlsplit(own).path else f"{own}/"
    return _option(environ, "ENDPOINT", _url, "http://localhost:4318", [_FOR_ALL]).rstrip("/") + "/v1/traces"


def _grpc_endpoint(environ: Mapping[str, str]) -> tuple[str, bool]:
    """Return the target and whether it is insecure. The scheme of a URL decides; without one, INSECURE does."""
    text = _option(environ, "ENDPOINT", str, "http://localhost:4317")
    scheme, separator, rest = text.partition("://")
    if separator and scheme.lower() in {"http", "https"}:
        return rest.split("/")[0], scheme.lower() == "http"
    return text, _option(environ, "INSECURE", _boolean, default=False)


def _url(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError(f"{text!r} is not an http:// or https:// URL")
    if parts.port == 0:
        raise ValueError(f"{text!r} names port 0")
    return text


def _protocol(text: str) -> OtlpProtocol:
    try:
        return OtlpProtocol(text.lower())
    except ValueError:
        raise ValueError(f"{text!r} is not one of http/protobuf, grpc") from None


def _headers(text: str) -> tuple[tuple[str, str], ...]:
    """Return the headers; the values are URL-decoded, and left out where no header could carry them."""
    headers = parse_env_headers(text, liberal=True)
    bad = [name for name, value in headers.items() if not _PRINTABLE.fullmatch(value)]
    if bad:
        # The values may be secrets: only names are shown.
        log.warning("headers for OTLP with characters that no header may have: %s: ignored", ", ".join(bad))
    return tuple((name, value) for name, value in headers.items() if name not in bad)


def _timeout_ms(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"{text!r} is not a number of milliseconds")
    timeout_ms = int(text)
    if 0 < timeout_ms < _SUSPICIOUS_MS:
        log.warning("the timeout for OTLP is %d milliseconds, not seconds; 10 seconds would be 10000", timeout_ms)
    return min(timeout_ms, _NO_LIMIT_MS) or _NO_LIMIT_MS


def _gzip(text: str) -> bool:
    if text.lower() not in {"gzip", "none"}:
        raise ValueError(f"{text!r} is not one of gzip, none")
    return text.lower() == "gzip"


def _boolean(text: str) -> bool:
    if text.lower() not in {"true", "false"}:
        raise ValueError(f"{text!r} is not one of true, false")
    return text.lower() == "true"


def _file(text: str) -> Path:
    if not os.access(text, os.R_OK):
        raise ValueError(f"{text!r} cannot be read")
    return Path(text)
