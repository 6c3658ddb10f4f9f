"""Chooses the transport and starts the delivery; each transport's library is loaded only if it is used."""

from __future__ import annotations

import ssl

from tritonscope.agent.delivery import Delivery
from tritonscope.agent.otlp_settings import OtlpProtocol, OtlpSettings
from tritonscope.agent.transport import Transport
from tritonscope.errors import SettingError


def open_transport(settings: OtlpSettings) -> Transport:
    """Return the transport that `settings` ask for; nothing is connected yet.

    Raises:
        SettingError: a certificate or key does not hold what it should.
    """
    try:
        if settings.protocol is OtlpProtocol.GRPC:
            from tritonscope.agent.export_grpc import GrpcTransport  # noqa: PLC0415 - costs 0.1 s to import

            return GrpcTransport(settings)
        from tritonscope.agent.export_http import HttpTransport  # noqa: PLC0415 - costs 0.1 s to import

        return HttpTransport(settings)
    except (ssl.SSLError, OSError) as error:
        raise SettingError(
            f"the certificates that OTEL_EXPORTER_OTLP_*CERTIFICATE and *CLIENT_KEY name cannot be used: {error}"
        ) from None


def start_delivery(settings: OtlpSettings) -> Delivery:
    """Start to send spans as `settings` say.

    Raises:
        SettingError: a certificate or key does not hold what it should.
    """
    delivery = Delivery(open_transport(settings), settings.timeout_ms / 1000)
    delivery.start()
    return delivery
