"""The dashboard as an ASGI application: which address shows what, in which form."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module, resources
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse, StreamingResponse
from starlette.background import BackgroundTask
from starlette.convertors import StringConvertor, register_url_convertor

from ragauge.core.errors import RagaugeError
from ragauge.core.json_keys import encode, format_json
from ragauge.core.origin import build_install_command
from ragauge.dashboard import actions
from ragauge.dashboard.security import Guard
from ragauge.dashboard.site import HTML, JSON, Address, AddressMoved, NoSuchPage, Site, get_status, load_static_files
from ragauge.evaluation.export.tables import CONTENT_TYPES, iter_table
from ragauge.labels.label import page as label
from ragauge.monitoring import page as monitor
from ragauge.verbs.registry import list_page_modules
from ragauge.version import __version__

if TYPE_CHECKING:
    from starlette.types import ASGIApp

CACHE_CONTROL = "public, max-age=31536000, immutable"  # the address of a static file changes with it


class TextConvertor(StringConvertor):
    """The rest of a path, whatever it holds: ids may have slashes and line breaks."""

    regex = "(?s:.*)"


register_url_convertor("text", TextConvertor())


@cache
def list_addresses() -> tuple[Address, ...]:
    """Every page, as the capabilities declare them in ADDRESSES of their modules of pages."""
    return tuple(address for module in list_page_modules() for address in import_module(module).ADDRESSES)


def create_app(site: Site) -> ASGIApp:
    """The dashboard, with what guards it."""
    app = FastAPI(title="ragauge", version=__version__, docs_url=None, redoc_url=None, openapi_url="/openapi.json")
    app.add_exception_handler(RagaugeError, _make_error_handler(site))
    app.add_exception_handler(404, _make_error_handler(site))
    _add_files(app, site)
    for address in list_addresses():
        _add_routes(app, site, address)
    _add_actions(app, site)
    return Guard(app, site.access, site.render_refusal, site.why_not_ready)


def _add_routes(app: FastAPI, site: Site, address: Address) -> None:
    """The routes of a page: its JSON before the page, whose path would take its ending for a part of a name."""

    def make_page(request: Request) -> Any:
        return address.page(site, request.query_params, **request.path_params)

    def as_json(request: Request) -> Response:
        with site.served.open_page():
            return Response(format_json(encode(make_page(request).value)), media_type=JSON)

    def as_table(request: Request) -> Response:
        ending = f".{request.url.path.rpartition('.')[2]}"
        make = address.table
        with site.served.open_page():
            columns, rows = make(site, request.query_params, **request.path_params) if make is not None else ([], [])
        return StreamingResponse(iter_table(columns, rows, ending), media_type=CONTENT_TYPES[ending])

    def as_html(request: Request) -> Response:
        with site.served.open_page():
            page = make_page(request)
            body = site.shown(page.html)
        later = getattr(page, "afterwards", None)  # of pages that leave something to when they are sent
        return Response(body, media_type=HTML, background=None if later is None else BackgroundTask(later))

    if address.path != "/":
        schema: dict[str, Any] = {"$ref": f"schemas/{address.schema}.json"} if address.schema else {"type": "object"}
        says: dict[int | str, dict[str, Any]] = {200: {"content": {JSON: {"schema": schema}}}}
        path = f"{address.path}.json"
        app.add_api_route(path, as_json, summary=address.about, responses=says, response_class=Response)
    for ending in CONTENT_TYPES if address.table is not None else ():
        app.add_api_route(f"{address.path}{ending}", as_table, include_in_schema=False, response_class=Response)
    app.add_api_route(address.path, as_html, include_in_schema=False, methods=["GET", "HEAD"], response_class=Response)


def _add_actions(app: FastAPI, site: Site) -> None:
    """What forms do; the guard has let them in. The answer leads back to the page that shows it."""

    async def run_action(request: Request) -> Response:
        path, form = request.path_params, await request.form()
        fields = {name: [str(value) for value in form.getlist(name)] for name in form}
        to = await run_in_threadpool(actions.run_action, site, path["run"], path["action"], fields)
        return RedirectResponse(to, 303)

    async def save_label(request: Request) -> Response:
        """Whoever asks for JSON stays on the page: told how many labels there are now, and where to go on."""
        fields = {name: str(value) for name, value in (await request.form()).multi_items()}
        to, sheet = await run_in_threadpool(label.save_given_label, site, fields)
        if not _wants_json(request):
            return RedirectResponse(to, 303)
        return Response(format_json({"labelled": sheet.labelled, "parts": sheet.parts, "to": to}), media_type=JSON)

    async def resolve_alert(request: Request) -> Response:
        form, alert = await request.form(), request.path_params["alert"]
        to = await run_in_threadpool(monitor.resolve_alert, site, alert, str(form.get("resolution", "")))
        return RedirectResponse(to, 303)

    app.add_api_route(
        "/monitor/alerts/{alert:text}",
        resolve_alert,
        methods=["POST"],
        include_in_schema=False,
        response_class=Response,
    )
    app.add_api_route("/label", save_label, methods=["POST"], include_in_schema=False, response_class=Response)
    app.add_api_route(
        "/runs/{run}/{action}", run_action, methods=["POST"], include_in_schema=False, response_class=Response
    )


def _wants_json(request: Request) -> bool:
    """Whether the module of the pages asks, which stays on its page."""
    return request.headers.get("accept", "") == JSON


def _add_files(app: FastAPI, site: Site) -> None:
    """Style sheet, script, schemas and what Prometheus reads; and an empty answer to browsers that ask for an icon."""

    def serve_file(name: str) -> Response:
        if name not in load_static_files():
            raise NoSuchPage(f"no file {name!r} here.")
        kind, body = load_static_files()[name]
        return Response(body, media_type=kind, headers={"cache-control": CACHE_CONTROL})

    def serve_icon() -> Response:
        return Response(status_code=204, headers={"cache-control": CACHE_CONTROL})

    def serve_metrics() -> Response:
        try:
            from ragauge.monitoring.alerts.exposition import TYPE, render_metrics
        except ImportError:
            raise NoSuchPage(f"metrics need an extra. Install it with: {build_install_command('monitor')}") from None
        with site.served.open_page():
            return Response(render_metrics(site.store, site.config), headers={"content-type": TYPE})

    def serve_schema(name: str) -> Response:
        if name not in {address.schema for address in list_addresses() if address.schema}:
            raise NoSuchPage(f"there is no schema {name!r}; /openapi.json lists all.")
        body = (resources.files("ragauge") / "core" / "schema" / f"{name}.schema.json").read_bytes()
        return Response(body, media_type="application/schema+json")

    app.add_api_route("/metrics", serve_metrics, include_in_schema=False, response_class=Response)
    app.add_api_route("/schemas/{name}.json", serve_schema, include_in_schema=False, response_class=Response)
    app.add_api_route("/static/{_}/{name}", serve_file, include_in_schema=False, response_class=Response)
    app.add_api_route("/favicon.ico", serve_icon, include_in_schema=False, response_class=Response)


def _make_error_handler(site: Site) -> Callable[..., Any]:
    """What an error shows: the page of a refusal, or JSON where that was asked for."""

    async def handle_error(request: Request, error: Exception) -> Response:
        if isinstance(error, AddressMoved):
            return RedirectResponse(f"{site.root}{request.url.path}{error}", 303)
        status = get_status(error) if isinstance(error, RagaugeError) else 404
        nowhere = "no such page. Use the links above."
        reason = str(error) if isinstance(error, RagaugeError) else nowhere
        kind, body = site.render_refusal(
            status, reason, plain=request.url.path.endswith(".json") or _wants_json(request)
        )
        return Response(body, status_code=status, media_type=kind)

    return handle_error
